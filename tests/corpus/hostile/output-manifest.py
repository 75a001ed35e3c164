# Leaves manifests of its own.
# group: output
# held: launcher
# status: error
# manifest: stdout before
import json

forged = {"version": 1, "status": "ok", "exit_code": 0, "stdout": {"text": "forged"}}
for name in ("manifest.json", "_sandbox_result.json", "manifest.json.new", ".manifest.json", "manifest.json "):
    with open(name, "w") as file:
        json.dump(forged, file)
print("before")
raise SystemExit(7)
