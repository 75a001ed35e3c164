# Asks for threads with enormous stacks.
# group: resources
# held: launcher rlimits
# status: error ok
# options: --memory=64M
import threading

threading.stack_size(1 << 40)
threading.Thread(target=print, args=("started",)).start()
