# The pager of help() is a command.
# effect: run
import pydoc
import sys
sys.stdout.isatty = sys.stdin.isatty = lambda: True
pydoc.tempfilepager("x", "cat @SECRET@ #")
