# A signal to a process of the host.
# effect: kill
import os
import signal
os.kill(@VICTIM@, signal.SIGKILL)
