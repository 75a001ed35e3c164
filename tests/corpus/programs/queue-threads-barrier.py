# threading: barriers, conditions, semaphores, timers, thread-local random.
import threading
barrier, order, lock = threading.Barrier(3), [], threading.RLock()
def work(n):
    with lock:
        order.append(("before", n))
    barrier.wait(5)
    with lock, lock:
        order.append(("after", n))
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print([kind for kind, _ in order])
ready, items = threading.Condition(), []
def consumer():
    with ready:
        ready.wait_for(lambda: items, 5)
        print("got", items.pop())
t = threading.Thread(target=consumer)
t.start()
with ready:
    items.append(1)
    ready.notify()
t.join()
fired = threading.Event()
threading.Timer(0.01, fired.set).start()
print(fired.wait(5), threading.active_count() >= 1, threading.main_thread().name)
class Worker(threading.Thread):
    def run(self):
        self.result = sum(range(100))
w = Worker(daemon=True)
w.start()
w.join()
print(w.result)
errors = []
threading.excepthook = lambda details: errors.append(details.exc_type.__name__)
t = threading.Thread(target=lambda: 1 / 0)
t.start()
t.join()
print(errors)
