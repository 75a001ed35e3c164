# Pillow shows images with a program, and keeps subprocess.
# effect: run
# tree: scientific
import PIL.ImageShow
PIL.ImageShow.subprocess.run(["cat", "@SECRET@"])
