"""What a policy sets up for a program before it runs: modules, names, a dict for its results, code of its own."""
import sys

RESULTS = {"summary_statistics": {}, "test_results": {}, "plots": [], "assumptions": {}, "interpretation": ""}


def run(rules, space, program, helpers):
    """Fill `space`. What the program does not mention is not loaded, and what the tree lacks is left out.

    `helpers` is what the policy's own code sees as "hotcell", see guest_hooks.
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
    """Whether the word stands in the program, be it in a comment: a module too many does no harm."""
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
    except Exception:  # the tree lacks it
        pass


def load(module):
    __import__(module)
    return sys.modules[module]


def bind(space, name, target):
    """`target` is a module, or "module:attribute"."""
    module, _, path = target.partition(":")
    value = load(module)
    for attribute in filter(None, path.split(".")):
        value = getattr(value, attribute)
    space[name] = value


def run_code(code, space, helpers):
    """In the program's own namespace, so that its functions can use what the program sees."""
    given = {"hotcell": space["hotcell"]} if "hotcell" in space else {}
    space["hotcell"] = helpers
    try:
        exec(code, space)
    finally:
        del space["hotcell"]
        space.update(given)
