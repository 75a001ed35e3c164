# Files: writing, reading, modes, encodings, seeking.
with open("notes.txt", "w", encoding="utf-8") as file:
    file.write("first\n")
    file.writelines(["sécond\n", "third\n"])
    print("fourth", 4, sep="=", file=file)
with open("notes.txt", encoding="utf-8") as file:
    print(file.readline(), [line.rstrip() for line in file], file.name, file.mode, file.closed)
with open("notes.txt", "a") as file:
    file.write("fifth\n")
with open("notes.txt", "rb") as file:
    print(file.read(8), file.tell(), file.seek(-6, 2), file.read())
with open("notes.txt", "r+") as file:
    file.write("FIRST")
print(open("notes.txt").read().split(), sum(1 for _ in open("notes.txt")))
try:
    open("missing.txt")
except FileNotFoundError as error:
    print(error)
try:
    open("notes.txt", "x")
except FileExistsError:
    print("exists")
try:
    open("notes.txt", encoding="ascii").read()
except UnicodeDecodeError as error:
    print(error.reason)
