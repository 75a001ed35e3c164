# shlex, getopt, cmd.
import cmd
import getopt
import io
import shlex
print(shlex.split("a 'b c' \"d e\" f\\ g"), shlex.quote("it's"), shlex.join(["a b", "c"]), getopt.getopt(["-a", "--long=x", "rest"], "a", ["long="]))
class Shell(cmd.Cmd):
    prompt, use_rawinput = "", False
    def do_add(self, line):
        print(sum(map(int, line.split())))
    def do_quit(self, line):
        return True
Shell(stdin=io.StringIO("add 1 2\nquit\n"), stdout=io.StringIO()).cmdloop("")
Shell().onecmd("add 4 5")
