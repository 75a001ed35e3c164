# Has itself told by signal when the standard library is read.
# group: files
# held: seccomp
import fcntl
import signal
def attack(lure):
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    folder = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
    try:
        fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        fcntl.fcntl(folder, fcntl.F_NOTIFY, 0)
        return "is told who reads the standard library"
    finally:
        os.close(folder)
