# Another audit hook sees, and by raising directs, what other code does.
# effect: run
import sys
def hook(event, arguments):
    if event == "compile":
        sys.modules["os"].system("cat @SECRET@")
sys.addaudithook(hook)
compile("1", "x", "eval")
