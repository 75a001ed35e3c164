# ftplib.
# effect: connect
import ftplib
try:
    ftplib.FTP().connect("127.0.0.1", @PORT@, timeout=0.2)
except OSError:
    pass
