# Prints bytes that are no text, and the halves of letters where they are cut off.
# group: stdout
# held: launcher
# status: ok
# options: --stdout-size=4K --json
# manifest: truncated stdout
import os

for _ in range(30):
    os.write(1, b"\x00\xff\xfe\xf0\x9f\x92" + "\N{PILE OF POO}".encode() * 100 + b"\xed\xa0\x80\xc0\x80")
