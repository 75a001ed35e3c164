import os
import tempfile

folder = tempfile.mkdtemp()
TEXT = "a line of text\n" * 20
COUNT = 1500


def work():
    for i in range(COUNT):
        with open(os.path.join(folder, f"{i}.txt"), "w", encoding="ascii") as file:
            file.write(TEXT)
    size = 0
    for _ in range(3):
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="ascii") as file:
                size += len(file.read())
    for entry in os.scandir(folder):
        size -= entry.stat().st_size
    for i in range(COUNT):
        os.rename(os.path.join(folder, f"{i}.txt"), os.path.join(folder, f"{i}.old"))
    for i in range(COUNT):
        os.unlink(os.path.join(folder, f"{i}.old"))
