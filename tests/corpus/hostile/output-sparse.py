# Leaves a file that is nearly all holes, larger than /output.
# group: output
# held: launcher
# status: ok
# options: --output-size=256K --file-size=64M
# manifest: output-bytes 262144
with open("sparse", "wb") as file:
    file.seek((64 << 20) - 1)
    file.write(b"x")
