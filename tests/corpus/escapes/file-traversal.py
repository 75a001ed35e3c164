# Up from the working directory to the root.
# effect: read
print(open("../" * 40 + "@SECRET@".lstrip("/")).read())
