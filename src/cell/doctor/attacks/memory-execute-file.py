# Maps a file that it wrote as code.
# group: memory
# held: mount_flags
import mmap
import tempfile
def attack(lure):
    for folder in ("/tmp", os.getcwd(), "/output"):
        with tempfile.TemporaryFile(dir=folder if os.path.isdir(folder) else None) as file:
            file.write(bytes(4096))
            file.flush()
            try:
                mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
                return f"mapped a file in {folder} as code"
            except OSError:
                pass
