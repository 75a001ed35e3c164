"""Prepares a zygote before it makes cells, and renews state in each new cell, before any guest code runs."""
import sys

FRESH = 48  # bytes of a new seed
OWN = []  # weak references to random generators that libraries made without a seed


def up(rules):
    """In the zygote: import the modules that the policy names, run its code, and exclude all objects from garbage
    collection."""
    if rules:
        with Watch():
            load(rules)
    import gc
    gc.collect()
    gc.freeze()


def again(rules):
    """In a new cell, right after the copy: renew seeds and the like. The module random does so itself at every fork."""
    for module, renew in RENEWED.items():
        if module in sys.modules:
            renew(sys.modules[module])
    for generator in OWN:
        if generator():
            generator().seed()
    if rules and rules.get("each"):
        run(rules)


def load(rules):
    for name in rules.get("imports", ()):
        try:
            __import__(name)
        except ModuleNotFoundError as error:
            if name.partition(".")[0] != error.name:  # a package that the tree lacks is skipped, a missing part is an error
                raise
    run(rules)


class Watch:
    """A context manager that remembers generators (random.Random) made without a seed in its block; those with a seed must
    not be renewed. It does not import the module random, but looks for it after each import."""

    def __init__(self):
        self.found, self.seed = {}, None

    def __enter__(self):
        import builtins
        self.load, builtins.__import__ = builtins.__import__, self.imported
        self.look()

    def imported(self, *arguments, **named):
        module = self.load(*arguments, **named)
        if not self.seed:
            self.look()
        return module

    def look(self):
        random = sys.modules.get("random")
        if not hasattr(random, "_inst"):  # not imported, or not completely
            return
        self.seed = seed = random.Random.seed
        from _weakref import ref
        found = self.found

        def noted(generator, a=None, version=2):
            found.pop(id(generator), None)
            if a is None:
                found[id(generator)] = ref(generator)
            seed(generator, a, version)
        random.Random.seed = noted

    def __exit__(self, *_):
        import builtins
        builtins.__import__, self.look = self.load, lambda: None  # a library may have kept our __import__
        if self.seed:
            sys.modules["random"].Random.seed = self.seed
        OWN.extend(self.found.values())


def run(rules):
    code = rules.get("code")
    if code:
        import builtins  # the real ones: this part has a copy with the harness's functions
        try:
            program = compile(code, "<warm>", "exec", dont_inherit=True)
        except SyntaxError as error:
            raise SyntaxError(str(error)) from None  # with the line: the launcher shows only the last line of what is printed
        exec(program, {"__name__": "warm", "__builtins__": builtins})


def fresh():
    import posix
    return posix.urandom(FRESH)


def renew_numpy(mtrand):
    mtrand.seed()


def renew_uuid(uuid):
    """Have uuid1() use the module's own generator, as libuuid keeps the node and the sequence that it chose in the zygote."""
    uuid._generate_time_safe = uuid._last_timestamp = None
    uuid._node = int.from_bytes(fresh()[:6], "big") | 1 << 40  # the bit marks a node that is no network card's address


def renew_tempfile(tempfile):
    tempfile._name_sequence = None  # Python renews the sequence only for another pid, and all cells have the same pid


def renew_ssl(module):
    module.RAND_add(fresh(), float(FRESH))


def renew_logging(logging):
    import time
    logging._startTime = (time.time_ns if isinstance(logging._startTime, int) else time.time)()  # nanoseconds since Python 3.13


def renew_multiprocessing(process):
    process.current_process().authkey = fresh()


def renew_matplotlib(matplotlib):
    """Make the configuration directory, which was the zygote's; see make_config_directory of guest_hooks.py."""
    import os
    make_folder(os.environ["MPLCONFIGDIR"], 0o700)


RENEWED = {
    "matplotlib": renew_matplotlib,
    "numpy.random.mtrand": renew_numpy,
    "uuid": renew_uuid,
    "tempfile": renew_tempfile,
    "_ssl": renew_ssl,
    "logging": renew_logging,
    "multiprocessing.process": renew_multiprocessing,
}
