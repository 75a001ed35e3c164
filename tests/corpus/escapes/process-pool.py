# concurrent.futures.ProcessPoolExecutor.
# effect: fork
import concurrent.futures
import multiprocessing
def work(text):
    return multiprocessing.parent_process() and text
with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
    print(pool.submit(work, "@TOKEN@").result())
