# Takes memory until there is no more.
# group: resources
# held: cgroup launcher
# status: memory
# options: --memory=64M
# manifest: reason 64M; stdout before
print("before", flush=True)
kept = []
while True:
    kept.append(bytearray(b"x" * (1 << 20)))
