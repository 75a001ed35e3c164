# Directory trees: sizes, newest files, duplicates by hash, tree printing.
import hashlib
import os
from collections import defaultdict
from pathlib import Path
for name, content in {"a/one.txt": "x" * 10, "a/b/two.txt": "x" * 10, "a/b/three.log": "y", "four.md": ""}.items():
    path = Path("root", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
sizes, hashes = defaultdict(int), defaultdict(list)
for folder, _, files in os.walk("root"):
    for file in files:
        path = os.path.join(folder, file)
        sizes[os.path.splitext(file)[1]] += os.path.getsize(path)
        hashes[hashlib.md5(Path(path).read_bytes()).hexdigest()].append(os.path.relpath(path, "root"))
print(dict(sorted(sizes.items())), [sorted(v) for v in hashes.values() if len(v) > 1])
def show(path, depth=0):
    for child in sorted(path.iterdir()):
        print("  " * depth + child.name + ("/" if child.is_dir() else ""))
        if child.is_dir():
            show(child, depth + 1)
show(Path("root"))
os.utime("root/four.md", (0, 86400))
print(os.path.getmtime("root/four.md"), min(Path("root").rglob("*.*"), key=lambda p: p.stat().st_mtime).name, os.path.samefile("root", "./root"), os.path.islink("root"))
