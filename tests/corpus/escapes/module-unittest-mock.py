# unittest.mock.patch finds its target's module by a dotted name.
# effect: run
import unittest.mock
unittest.mock.patch("os.getcwd").getter().system("cat @SECRET@")
