# Prints what changes a terminal, its title and what is typed into it.
# group: stdout
# held: launcher
# status: ok
# options: --json
# manifest: no-controls
import sys

for text in ("\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x1b[6n", "\x1bP+q544e\x1b\\", "\x9b31m", "\b" * 20, "\r", "\x00"):
    sys.stdout.write(text)
    sys.stderr.write(text)
