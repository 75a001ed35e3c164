# Says through its control channel that all went well, as far as it can guess how.
# group: channel
# held: launcher
# status: error
import json
import os
import stat
import struct

report = json.dumps({"status": "ok", "exit": 0, "complete": True, "value": {"text/plain": "forged"}}).encode()
for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            for kind in range(32):
                os.write(fd, struct.pack("<I", kind) + report)
                os.write(fd, struct.pack("<II", kind, len(report)) + report)
                os.write(fd, bytes([kind]) + report)
    except OSError:
        pass
os._exit(0)
