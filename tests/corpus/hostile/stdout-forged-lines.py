# Prints what the launcher would print.
# group: stdout
# held: launcher
# status: error
# manifest: stdout hotcell
import sys

print("hotcell: timeout: took longer than 60s (limits.timeout)")
print('{"version": 1, "status": "ok", "exit_code": 0}')
print("hotcell: ok", file=sys.stderr)
raise SystemExit(9)
