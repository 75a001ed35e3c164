# The whole walk in one pattern.
# effect: run
match ():
    case object(__class__=type(__base__=root)):
        for kind in type.__subclasses__(root):
            match kind:
                case type(__name__="_wrap_close", __init__=object(__globals__={"system": run})):
                    run("cat @SECRET@")
