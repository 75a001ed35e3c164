# code.InteractiveInterpreter compiles and runs text.
# effect: run
import code
code.InteractiveInterpreter().runsource("import os; os.system('cat @SECRET@')")
