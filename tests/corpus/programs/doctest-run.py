# doctest of functions in the program.
import doctest
def mean(values):
    """The mean.

    >>> mean([1, 2, 3])
    2.0
    >>> mean([])
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """
    return sum(values) / len(values)
def wrong():
    """
    >>> wrong()
    2
    """
    return 1
finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
for function in (mean, wrong):
    for test in finder.find(function, function.__name__, globs=globals()):
        print(function.__name__, runner.run(test, out=lambda text: None))
print(runner.summarize(verbose=False))
