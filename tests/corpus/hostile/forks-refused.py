# Forks where the policy does not allow it, again and again.
# group: resources
# held: seccomp
# status: ok
# manifest: denial clone
import os

for _ in range(2000):
    try:
        os.fork()
    except OSError:
        continue
    raise SystemExit("forked")
