# Raises the size of core dumps.
# group: memory
# held: rlimits
import resource
def attack(lure):
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard:
        return "may leave core dumps"
