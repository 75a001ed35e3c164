# The traceback of code compiled under the file's name shows its line.
# effect: read
exec(compile("1 / 0", "@SECRET@", "exec"))
