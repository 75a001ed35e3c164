# multiprocessing.Process.
# effect: fork
import multiprocessing
multiprocessing.set_start_method("fork")
worker = multiprocessing.Process(target=print, args=("@TOKEN@",))
worker.start()
worker.join()
