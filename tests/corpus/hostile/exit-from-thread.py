# Ends its process with status 0 from a thread.
# group: ending
# held: launcher
# status: error
import os
import threading

threading.Thread(target=os._exit, args=(0,)).start()
threading.Event().wait()
