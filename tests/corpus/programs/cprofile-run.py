# cProfile and pstats around a function.
# difference: sys.setprofile is refused, so cProfile and profile do not run; time.perf_counter and timeit do
import cProfile
import io
import pstats
def slow():
    return sum(i * i for i in range(1000))
profile = cProfile.Profile()
profile.enable()
slow()
profile.disable()
stream = io.StringIO()
pstats.Stats(profile, stream=stream).sort_stats("cumulative").print_stats(5)
print("function calls" in stream.getvalue(), "slow" in stream.getvalue(), profile.runcall(slow))
