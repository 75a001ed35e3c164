# NFKC: full-width letters are the same identifier to the parser.
# effect: run
ｅｖａｌ("__import__('os').system('cat @SECRET@')")
