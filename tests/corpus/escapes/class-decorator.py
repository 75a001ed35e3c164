# Decorators call without a call expression.
# effect: run
import os
@os.system
@(lambda _: "cat @SECRET@")
class Anything:
    pass
