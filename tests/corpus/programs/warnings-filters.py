# warnings: raising, catching, filtering.
import warnings
def old():
    warnings.warn("use new()", DeprecationWarning, stacklevel=2)
    return 1
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    old()
    warnings.warn("second")
print([(w.category.__name__, str(w.message)) for w in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        old()
    except DeprecationWarning as error:
        print("raised", error)
warnings.filterwarnings("ignore", category=DeprecationWarning)
print(old())
