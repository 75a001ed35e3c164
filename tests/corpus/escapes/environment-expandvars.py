# os.path.expandvars substitutes variables in text.
# effect: env
import os.path
print(os.path.expandvars("$ESCAPE_SECRET"))
