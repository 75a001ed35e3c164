# So does codecs.
# effect: run
import codecs
codecs.builtins.__import__("os").system("cat @SECRET@")
