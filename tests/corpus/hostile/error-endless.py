# Fails with a message that never ends.
# group: stdout
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0


class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
