# breakpoint() imports the function that an environment variable names.
# effect: run
import os
os.environ["PYTHONBREAKPOINT"] = "os.system"
breakpoint("cat @SECRET@")
