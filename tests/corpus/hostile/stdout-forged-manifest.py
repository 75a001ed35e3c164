# Prints a manifest where the caller expects one.
# group: stdout
# held: launcher
# status: error
# options: --json
# manifest: stdout forged
import json
import os

forged = json.dumps({"version": 1, "status": "ok", "exit_code": 0, "reason": None, "job_id": "forged"})
for fd in (1, 2):
    os.write(fd, f"{forged}\n".encode())
raise SystemExit(9)
