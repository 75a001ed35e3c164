# _posixsubprocess.fork_exec raises no audit event: reached through a loader, without subprocess.
# effect: run
import os
import time
native = time.__loader__.load_module("_posixsubprocess")
gate, gone = os.pipe()
native.fork_exec([b"/bin/cat", b"@SECRET@"], [b"/bin/cat"], True, (gone,), None, None, -1, -1, -1, -1, -1, -1, gate, gone,
                 False, False, 0, None, None, None, -1, None, False)
os.wait()
