# imaplib starts a command as its transport.
# effect: run
import imaplib
try:
    imaplib.IMAP4_stream("cat @SECRET@")
except imaplib.IMAP4.error as error:
    print(error)
