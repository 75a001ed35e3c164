# Opens the terminal from which hotcell was called, and types into it.
# group: devices
# held: mount_namespace landlock
# status: ok error
# outside: REACHED
# terminal: yes
tty -s && echo REACHED
(echo x > /dev/tty) 2>/dev/null && echo REACHED
python3 -c '
import fcntl, termios
with open("/dev/tty", "r+b", 0) as terminal:
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
print("REACHED")' 2>/dev/null
true
