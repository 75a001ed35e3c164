# mailcap's test field is a shell command.
# effect: run
# until: 3.12
import warnings
warnings.simplefilter("ignore")
import mailcap
import os
mailcap.findmatch({"x/y": [{"view": "v", "test": "cat @SECRET@"}]}, "x/y", filename="f")
