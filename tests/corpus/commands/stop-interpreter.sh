# Stops the interpreter that started it and waits.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=1 --grace=0
# alone: no process stands above it there that waits for it
trap '' TERM
kill -STOP "$PPID"
while :; do sleep 1; done
