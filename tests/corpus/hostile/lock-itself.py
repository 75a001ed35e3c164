# Waits for itself.
# group: resources
# held: launcher
# status: timeout
# options: --timeout=0.3 --grace=0
import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
