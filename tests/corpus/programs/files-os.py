# os: listing, making, renaming and removing files in the working directory.
import os
os.makedirs("data/sub/deep", exist_ok=True)
for name in ("b.txt", "a.txt", "sub/c.csv"):
    with open(os.path.join("data", name), "w") as file:
        file.write(name)
print(sorted(os.listdir("data")), [(os.path.relpath(folder, "data"), sorted(folders), sorted(files)) for folder, folders, files in sorted(os.walk("data"))])
os.rename("data/b.txt", "data/z.txt")
os.remove("data/a.txt")
print(os.path.exists("data/a.txt"), os.path.getsize("data/z.txt"), os.path.isdir("data"), os.path.splitext("x.tar.gz"), os.path.basename("/a/b"), os.path.dirname("/a/b"))
print(os.path.join("a", "..", "b"), os.path.normpath("a/../b"), os.path.isabs(os.path.abspath("x")), os.path.commonpath(["/a/b", "/a/c"]), os.sep, os.linesep == "\n")
with os.scandir("data") as entries:
    print(sorted((entry.name, entry.is_file()) for entry in entries))
print(os.stat("data/z.txt").st_size, os.access("data", os.W_OK), os.getcwd() == os.path.realpath("."))
os.rmdir("data/sub/deep")
os.chmod("data/z.txt", 0o600)
print(oct(os.stat("data/z.txt").st_mode & 0o777), os.environ.get("SURELY_UNSET", "default"), os.path.expanduser("x"), os.cpu_count() > 0)
os.replace("data/z.txt", "data/y.txt")
os.unlink("data/y.txt")
print(os.listdir("data"), isinstance(os.getpid(), int), os.name, os.fspath("x"), len(os.urandom(8)))
