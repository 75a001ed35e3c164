# A signal handler runs between two instructions of any code.
# effect: run
import os
import signal
signal.signal(signal.SIGUSR1, lambda number, frame: frame.f_builtins["__import__"]("os").system("cat @SECRET@"))
signal.raise_signal(signal.SIGUSR1)
