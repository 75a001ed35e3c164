# Leaves many files that are nearly all holes.
# group: output
# held: launcher
# status: ok
# options: --output-size=1M --file-size=64M
# manifest: output-bytes 1048576
for number in range(200):
    with open(f"sparse{number:03}", "wb") as file:
        file.truncate(64 << 20)
