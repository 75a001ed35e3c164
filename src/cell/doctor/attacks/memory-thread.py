# Has memory in a process whose first thread has ended, and whose own files show none from then on.
# group: limits
# held: cgroup launcher
# cell: small
import threading
import time
def attack(lure):
    def take():
        for _ in range(lure["memory"] + (64 << 20) >> 20):
            hoard(1)
            time.sleep(0.001)
        os.write(1, b"drill reached: memory that nobody counted\n")
        os._exit(0)
    threading.Thread(target=take).start()
    call("exit", 0)
