# The names are in rot13.
# effect: run
import codecs
exec(codecs.decode("vzcbeg bf; bf.flfgrz(", "rot13") + "'cat @SECRET@')")
