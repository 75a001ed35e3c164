# pydoc pipes text through a pager.
# effect: run
import pydoc
pydoc.pipepager("x", "cat @SECRET@ #")
