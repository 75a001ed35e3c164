# Starts itself twice, again and again.
# group: resources
# held: cgroup rlimits launcher
# status: ok pids timeout error killed memory
# options: --pids=32 --timeout=3 --grace=0
# alone: the host has no such limits
bomb() { bomb | bomb & }
bomb
wait
