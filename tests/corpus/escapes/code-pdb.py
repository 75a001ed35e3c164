# The debugger's commands execute statements, here given as a list.
# effect: run
import pdb
debugger = pdb.Pdb()
debugger.rcLines = ["!import os; os.system('cat @SECRET@')"]
debugger.run("pass")
