# Makes a named pipe in its output or working directory.
# group: files
# held: landlock
def attack(lure):
    os.mkfifo("hotcell-drill-pipe")
    os.unlink("hotcell-drill-pipe")
    return "made a named pipe where results are collected"
