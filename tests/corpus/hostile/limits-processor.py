# Gives itself a second of the processor, to end by a signal that only a limit sends.
# group: ending
# held: launcher
# status: error killed
# options: --timeout=20
import resource

resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True:
    pass
