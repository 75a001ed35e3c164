# smtplib.
# effect: connect
import smtplib
try:
    smtplib.SMTP("127.0.0.1", @PORT@, timeout=0.2)
except OSError:
    pass
