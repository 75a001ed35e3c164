# The plain way.
# effect: write
open("@WRITE@", "w").write("x")
