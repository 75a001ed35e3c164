# The environment of whoever started hotcell.
# effect: env
import os
print(os.environ["ESCAPE_SECRET"])
