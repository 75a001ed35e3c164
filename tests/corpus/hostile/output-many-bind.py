# Leaves more files than it may in an output directory that is the host's own.
# group: output
# held: launcher
# status: ok
# options: --output-mode=bind --output-files=500
# manifest: at-most 500
for number in range(1500):
    open(f"{number}", "w").close()
