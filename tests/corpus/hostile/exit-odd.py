# Ends with a status that is none.
# group: ending
# held: launcher
# status: error
raise SystemExit({"status": 0, "ok": True})
