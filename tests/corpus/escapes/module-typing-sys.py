# typing imports sys, and sys knows all modules.
# effect: run
import typing
typing.sys.modules["os"].system("cat @SECRET@")
