"""Runs a policy's prelude before the program: loads modules, binds names, makes a dict for results, runs the policy's code."""
import sys

RESULTS = {"summary_statistics": {}, "test_results": {}, "plots": [], "assumptions": {}, "interpretation": ""}


def run(rules, space, program, helpers):
    """Fill `space`, the program's globals. Modules that the program does not mention are not loaded; those that the tree
    lacks are skipped. `helpers` is the object "hotcell" of the policy's code, see guest_hooks.
    """
    source = rules.get("code", "")
    code = compile(source, "<hotcell>", "exec", dont_inherit=True)
    for module in rules.get("load", ()):
        if mentions(program, module.partition(".")[0]):
            attempt(load, module)
    for name, target in rules.get("names", {}).items():
        if name not in space and (mentions(program, name) or name in code.co_names):
            attempt(bind, space, name, target)
    for alias, name in rules.get("aliases", {}).items():
        if name in space:
            space.setdefault(alias, space[name])
    if rules.get("results"):
        space.setdefault("results", RESULTS)
    if source:
        run_code(code, space, helpers)


def mentions(program, word):
    """Whether the word stands in the program, even in a comment: loading a module needlessly does no harm."""
    at = program.find(word)
    while at >= 0:
        end = at + len(word)
        if not part_of_word(program[at - 1:at]) and not part_of_word(program[end:end + 1]):
            return True
        at = program.find(word, end)
    return False


def part_of_word(character):
    return character.isalnum() or character == "_"


def attempt(action, *arguments):
    try:
        action(*arguments)
    except Exception:  # the tree lacks the module
        pass


def load(module):
    __import__(module)
    return sys.modules[module]


def bind(space, name, target):
    """Bind a name to `target`, which is a module or "module:attribute"."""
    module, _, path = target.partition(":")
    value = load(module)
    for attribute in filter(None, path.split(".")):
        value = getattr(value, attribute)
    space[name] = value


def run_code(code, space, helpers):
    """Run the policy's code in the program's own namespace, so that its functions can use the program's names."""
    given = {"hotcell": space["hotcell"]} if "hotcell" in space else {}
    space["hotcell"] = helpers
    try:
        exec(code, space)
    finally:
        left = space.pop("hotcell", helpers)
        space.update(given if left is helpers else {"hotcell": left})  # the code may have bound the name itself
