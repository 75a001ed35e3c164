# Source in another encoding hides the program in exec: UTF-7 bytes decode to an import.
# effect: run
exec(b"+AGkAbQBwAG8AcgB0-  os\nos.system('cat @SECRET@')".decode("utf-7"))
