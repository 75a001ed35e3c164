# Opens an output directory that is the host's own to everybody.
# group: output
# held: launcher
# status: ok
# options: --output-mode=bind
# manifest: private
import os

os.chmod("/output", 0o777)
