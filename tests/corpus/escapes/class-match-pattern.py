# A class pattern in match reads attributes by keyword.
# effect: run
import random
match random:
    case object(_os=object(system=run)):
        run("cat @SECRET@")
