# weakref.finalize and callbacks run in the collector.
# effect: run
import os
import weakref
class Thing:
    pass
thing = Thing()
weakref.finalize(thing, os.system, "cat @SECRET@")
del thing
