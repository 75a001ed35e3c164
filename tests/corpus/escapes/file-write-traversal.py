# Up from the temporary directory to the root.
# effect: write
import tempfile
open(tempfile.gettempdir() + "/.." * 40 + "@WRITE@", "w").write("x")
