# Ignores the signal by which a command is asked to end.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0.2
# alone: nobody asks it there
trap '' TERM INT HUP
while :; do sleep 1; done
