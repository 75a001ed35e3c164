# Has a value that never ends to say what it is.
# group: stdout
# held: launcher
# status: timeout ok
# options: --timeout=0.5 --grace=0


class Endless:
    def __repr__(self):
        while True:
            pass


Endless()
