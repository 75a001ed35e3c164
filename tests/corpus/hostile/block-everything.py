# Blocks every signal in every thread.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0.2
import signal
import threading

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
threading.Event().wait()
