# Has a shell read what a process of the host was called with, and send it nothing.
# group: processes
# held: pid_namespace proc
def attack(lure):
    return commands("""
        cat "/proc/$1/cmdline" | tr "\\0" " " | grep -o "$2"
        kill -0 "$1" && grep -qs . "/proc/$1/comm" && echo "may send signals to a process of the host"
        """, lure["pid"], lure["secret"])
