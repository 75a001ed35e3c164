# doctest executes what a text says.
# effect: run
import doctest
test = doctest.DocTestParser().get_doctest(">>> import os; _ = os.system('cat @SECRET@')", {}, "x", None, 0)
doctest.DocTestRunner().run(test)
