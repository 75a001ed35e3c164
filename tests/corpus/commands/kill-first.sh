# Sends every signal to the first process of the cell.
# group: ending
# held: pid_namespace launcher
# status: ok
# manifest: stdout after
# alone: the first process of the host is another user's
for number in $(seq 1 64); do kill -"$number" 1; done 2>/dev/null
echo after
