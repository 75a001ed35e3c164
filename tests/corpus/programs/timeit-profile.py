# timeit and tracemalloc: only that they run.
import timeit
import tracemalloc
print(timeit.timeit("sum(range(100))", number=100) > 0, len(timeit.repeat(lambda: None, number=10, repeat=3)))
tracemalloc.start()
data = [bytes(1000) for _ in range(100)]
now, peak = tracemalloc.get_traced_memory()
print(now > 90000, peak >= now, len(tracemalloc.take_snapshot().statistics("lineno")) > 0)
tracemalloc.stop()
