# os.forkpty forks and makes a terminal.
# effect: fork
import os
child, terminal = os.forkpty()
if child == 0:
    os.write(1, b"@TOKEN@\n")
    os._exit(0)
print(os.read(terminal, 100).decode())
