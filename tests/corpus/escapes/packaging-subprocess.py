# packaging asks programs about the C library; it keeps subprocess.
# effect: run
# tree: scientific
import packaging._musllinux
packaging._musllinux.subprocess.run(["cat", "@SECRET@"])
