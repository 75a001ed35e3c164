# A package's submodule keeps what it imported.
# effect: run
import concurrent.futures.thread as pool
pool.os.system("cat @SECRET@")
