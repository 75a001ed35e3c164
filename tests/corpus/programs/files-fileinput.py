# fileinput, linecache, filecmp.
import filecmp
import fileinput
import linecache
for name, text in (("a.txt", "1\n2\n"), ("b.txt", "3\n"), ("c.txt", "1\n2\n")):
    with open(name, "w") as file:
        file.write(text)
with fileinput.input(["a.txt", "b.txt"]) as lines:
    print([(fileinput.filename(), fileinput.filelineno(), line.strip()) for line in lines])
print(repr(linecache.getline("a.txt", 2)), filecmp.cmp("a.txt", "c.txt", shallow=False), filecmp.cmp("a.txt", "b.txt"))
with fileinput.input("a.txt", inplace=True) as lines:
    for line in lines:
        print(line.replace("1", "one"), end="")
print(open("a.txt").read())
