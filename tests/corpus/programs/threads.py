# threading: locks, events, queues, local data.
import queue
import threading
total, lock = 0, threading.Lock()
def add(times):
    global total
    for _ in range(times):
        with lock:
            total += 1
workers = [threading.Thread(target=add, args=(500,), name=f"w{i}") for i in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(total, [worker.name for worker in workers], workers[0].is_alive())
jobs, done = queue.Queue(), queue.Queue()
def serve():
    while (job := jobs.get()) is not None:
        done.put(job ** 2)
        jobs.task_done()
thread = threading.Thread(target=serve, daemon=True)
thread.start()
for n in range(5):
    jobs.put(n)
jobs.join()
jobs.put(None)
thread.join()
print(sorted(done.queue))
event, local = threading.Event(), threading.local()
local.x = 1
seen = []
other = threading.Thread(target=lambda: (seen.append(hasattr(local, "x")), event.set()))
other.start()
print(event.wait(5), seen, threading.current_thread().name)
other.join()
