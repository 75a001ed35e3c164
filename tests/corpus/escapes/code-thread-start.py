# _thread starts a function without any of threading's frames.
# effect: run
import _thread
gate = _thread.allocate_lock()
gate.acquire()
def work():
    try:
        __import__("os").system("cat @SECRET@")
    finally:
        gate.release()
_thread.start_new_thread(work, ())
gate.acquire()
