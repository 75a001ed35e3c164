# Runs its own executable once more.
# group: files
# held: seccomp proc
def attack(lure):
    arguments = ["python3", "-I", "-S", "-c", "import os; os._exit(42)"]
    return "ran its own executable" if executes(lambda: os.execv("/proc/self/exe", arguments)) else None
