# Fills the memory by many processes, each of which takes little.
# group: resources
# held: cgroup launcher
# status: memory pids killed error
# options: --memory=192M --timeout=20 --grace=0
# alone: the host has no such limits
for number in $(seq 1 20); do
    python3 -c 'import time; kept = b"x" * (24 << 20); time.sleep(15)' &
done
wait
echo REACHED
