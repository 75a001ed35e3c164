# pydoc.locate imports by name.
# effect: run
import pydoc
pydoc.locate("os.system")("cat @SECRET@")
