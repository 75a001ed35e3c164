# threading.excepthook is called outside of the program's own frames.
# effect: run
import os
import threading
threading.excepthook = lambda details: os.system("cat @SECRET@")
worker = threading.Thread(target=lambda: 1 / 0)
worker.start()
worker.join()
