# Leaves files whose names are not text, or more than text.
# group: output
# held: launcher
# status: ok
# manifest: files 9
names = [b"line\nbreak", b"escape\x1b[2J", b"\xff\xfe invalid", b"x" * 255, b'quote"and\\back', b"-rf", b"~", b" ",
         b"\xe2\x80\xaeright to left"]
for name in names:
    with open(b"/output/" + name, "w") as file:
        file.write("x")
