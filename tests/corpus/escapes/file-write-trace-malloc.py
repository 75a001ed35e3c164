# tracemalloc dumps a pickle.
# effect: write
import tracemalloc
tracemalloc.start()
tracemalloc.take_snapshot().dump("@WRITE@")
