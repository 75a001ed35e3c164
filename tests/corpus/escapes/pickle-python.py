# The unpickler in Python instead of C.
# effect: run
import io
import pickle
pickle._Unpickler(io.BytesIO(b"cbuiltins\neval\n(V__import__('os').system('cat @SECRET@')\ntR.")).load()
