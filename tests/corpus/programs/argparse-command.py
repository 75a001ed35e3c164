# argparse with given arguments.
import argparse
parser = argparse.ArgumentParser(prog="tool", description="Does things.")
parser.add_argument("files", nargs="+")
parser.add_argument("-n", "--number", type=int, default=5, help="how many")
parser.add_argument("--mode", choices=["fast", "slow"], default="fast")
parser.add_argument("-v", "--verbose", action="count", default=0)
parser.add_argument("--flag", action=argparse.BooleanOptionalAction)
print(parser.parse_args(["a", "b", "-n", "7", "-vv", "--mode=slow", "--no-flag"]))
parser.print_help()
try:
    parser.parse_args(["a", "--mode", "warp"])
except SystemExit as error:
    print("exit", error.code)
commands = argparse.ArgumentParser().add_subparsers(dest="command")
commands.add_parser("run").add_argument("what")
print(argparse.Namespace(a=1), parser.parse_known_args(["x", "--other"])[1])
