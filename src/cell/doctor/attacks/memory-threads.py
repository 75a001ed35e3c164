# Has memory in a process that goes from thread to thread, so that one that is looked at has ended.
# group: limits
# held: cgroup launcher
# cell: small
import _thread
import time
def attack(lure):
    def hop(left):
        if left:
            hoard(1)
            time.sleep(0.001)
            _thread.start_new_thread(hop, (left - 1,))
            return
        os.write(1, b"drill reached: memory that nobody counted\n")
        os._exit(0)
    _thread.start_new_thread(hop, (lure["memory"] + (64 << 20) >> 20,))
    call("exit", 0)
