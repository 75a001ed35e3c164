# threading.settrace sets it for threads to come.
# effect: run
import threading
def trace(frame, event, argument):
    frame.f_builtins["__import__"]("os").system("cat @SECRET@")
threading.settrace(trace)
worker = threading.Thread(target=print)
worker.start()
worker.join()
