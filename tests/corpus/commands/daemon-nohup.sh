# Leaves a process that ignores hang-ups.
# group: ending
# held: pid_namespace launcher
# status: ok
# outside: process
nohup sleep 600 >/dev/null 2>&1 </dev/null &
echo $!
