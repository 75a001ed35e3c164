# sys.exit with a message after output, and atexit.
import atexit
import sys
atexit.register(print, "at exit")
print("before")
try:
    sys.exit("message")
except SystemExit as error:
    print("caught", error.code)
def main():
    print("main")
    return 0
if __name__ == "__main__":
    sys.exit(main())
