# Ends with a status that is 0 once it is cut off.
# group: ending
# held: launcher
# status: ok error
raise SystemExit(1 << 40)
