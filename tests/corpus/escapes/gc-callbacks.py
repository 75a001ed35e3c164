# gc.callbacks run inside the collector.
# effect: run
import gc
import os
def called(phase, details):
    gc.callbacks.clear()
    os.system("cat @SECRET@")
gc.callbacks.append(called)
gc.collect()
