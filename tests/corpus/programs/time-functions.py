# time: clocks go forward; formatting is deterministic.
import time
start = time.perf_counter()
time.sleep(0.01)
print(time.perf_counter() > start, time.monotonic() > 0, time.time() > 1.6e9, time.process_time() >= 0)
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(86400 * 365)), time.strptime("12 Jan 2024", "%d %b %Y").tm_yday, time.gmtime(0).tm_wday)
print(time.asctime(time.gmtime(0)), time.struct_time((2024, 1, 1, 0, 0, 0, 0, 1, 0)).tm_mon)
