# The same by a pidfd.
# effect: kill
import os
import signal
signal.pidfd_send_signal(os.pidfd_open(@VICTIM@), signal.SIGKILL)
