# Leaves named pipes, for whoever reads them to wait.
# group: output
# held: landlock launcher
# status: ok
# manifest: files 0
import os

try:
    os.mkfifo("pipe")
except OSError:
    os.mkfifo("/tmp/pipe")
    try:
        os.rename("/tmp/pipe", "/output/pipe")
    except OSError:
        pass
