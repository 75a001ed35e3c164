# Leaves a thread that goes on when it should end.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0
import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()
