# py_compile writes bytecode to a chosen place.
# effect: write
import py_compile
import tempfile
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
    file.write("1")
py_compile.compile(file.name, cfile="@WRITE@")
