# Gives a program more arguments and environment than the kernel takes, and many programs nearly as many.
# group: resources
# held: rlimits cgroup launcher
# status: ok error memory pids timeout
# options: --memory=256M --timeout=20
# alone: the host has no such limits
large=$(head -c 120000 /dev/zero | tr '\0' x)
/usr/bin/env true $(seq 1 1000000) 2>/dev/null && echo REACHED
for number in $(seq 1 40); do
    env "a=$large" "b=$large" "c=$large" "d=$large" sleep 5 "$large" "$large" &
done
wait
