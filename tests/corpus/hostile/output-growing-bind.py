# Writes on and on to a file in an output directory that is the host's own.
# group: output
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0 --output-mode=bind --file-size=1M
# manifest: partial
while True:
    with open("growing", "ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1000))
        except OSError:
            file.truncate(0)
