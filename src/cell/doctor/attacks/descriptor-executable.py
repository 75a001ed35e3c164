# Opens its own executable for writing.
# group: descriptors
# held: ids proc
# outside: needs root
def attack(lure):
    try:
        os.close(os.open("/proc/self/exe", os.O_WRONLY))
    except OSError as error:
        if error.errno != errno.ETXTBSY:
            raise
    return "may write its own executable when it does not run"
