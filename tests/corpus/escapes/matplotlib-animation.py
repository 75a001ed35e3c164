# Animations are piped into a program that a setting names.
# effect: run
# tree: scientific
import os
import tempfile
import matplotlib.animation
import matplotlib.pyplot as plt
path = tempfile.mktemp()
with open(path, "w") as file:
    file.write("#!/bin/sh\ncat @SECRET@ >&2\ncat >/dev/null\nexit 1\n")
os.chmod(path, 0o700)
plt.rcParams["animation.ffmpeg_path"] = path
figure = plt.figure()
writer = matplotlib.animation.FFMpegWriter()
writer.setup(figure, "x.mp4", 10)
print(writer._proc.communicate())
