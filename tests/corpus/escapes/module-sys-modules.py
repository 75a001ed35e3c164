# os has long been imported: sys.modules has it.
# effect: run
import sys
sys.modules["os"].system("cat @SECRET@")
