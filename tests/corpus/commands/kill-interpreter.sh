# Kills the interpreter that started it, which is to tell how it ended.
# group: ending
# held: launcher
# status: killed error
# alone: no process stands above it there that tells how it ended
kill -9 "$PPID"
sleep 30
