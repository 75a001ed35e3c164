# shutil, glob and fnmatch.
import fnmatch
import glob
import os
import shutil
os.makedirs("src/inner")
for name in ("src/a.txt", "src/b.log", "src/inner/c.txt"):
    with open(name, "w") as file:
        file.write(name * 3)
shutil.copy("src/a.txt", "src/copy.txt")
shutil.copytree("src", "dst", ignore=shutil.ignore_patterns("*.log"))
print(sorted(glob.glob("dst/**/*", recursive=True)), sorted(glob.glob("src/[ab].*")))
shutil.move("dst/a.txt", "dst/moved.txt")
print(sorted(os.listdir("dst")), shutil.disk_usage(".").total > 0, fnmatch.filter(["a.py", "b.txt"], "*.py"), fnmatch.translate("*.x"))
archive = shutil.make_archive("backup", "zip", "src")
shutil.unpack_archive(archive, "restored")
print(os.path.basename(archive), sorted(os.listdir("restored")))
shutil.rmtree("dst")
print(os.path.exists("dst"), shutil.which("surely-no-such-program"))
