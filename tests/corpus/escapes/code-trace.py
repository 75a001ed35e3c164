# trace.Trace.run executes a statement.
# effect: run
import trace
trace.Trace(count=0, trace=0).run("import os; os.system('cat @SECRET@')")
