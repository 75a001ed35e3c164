# Leaves files with every byte in their names that a name can have.
# group: output
# held: launcher
# status: ok
# manifest: files 254
for number in range(1, 256):
    if number != 0x2f:
        with open(b"/output/name" + bytes([number]), "w") as file:
            file.write("x")
