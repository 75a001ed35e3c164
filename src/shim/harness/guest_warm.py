"""What a zygote does before it makes cells, and what each of them does anew: runs before any guest code does."""
import sys

FRESH = 48  # bytes for a generator's state
OWN = []  # weak references to generators of libraries' own, which are seeded by chance


def up(rules):
    """In the zygote: import what the policy names, run its code, and keep the collector off all of that."""
    if rules:
        with Watch():
            load(rules)
    import gc
    gc.collect()
    gc.freeze()


def again(rules):
    """In a new cell, which has only just been copied. The module random sees to itself at every fork."""
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
            if name.partition(".")[0] != error.name:  # the tree lacks it; a part of it that is missing is said
                raise
    run(rules)


class Watch:
    """In a `with`: remembers generators (random.Random) that are given no seed meanwhile; one with a seed is to stay as it is.

    The module is not imported for that: it is looked for whenever something has been."""

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
        if not hasattr(random, "_inst"):  # or not all of it
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
        builtins.__import__, self.look = self.load, lambda: None  # somebody may have kept ours
        if self.seed:
            sys.modules["random"].Random.seed = self.seed
        OWN.extend(self.found.values())


def run(rules):
    code = rules.get("code")
    if code:
        import builtins  # as modules have them, and not as this one has
        exec(compile(code, "<warm>", "exec", dont_inherit=True), {"__name__": "warm", "__builtins__": builtins})


def fresh():
    import posix
    return posix.urandom(FRESH)


def renew_numpy(mtrand):
    mtrand.seed()


def renew_uuid(uuid):
    """libuuid has chosen a node and a sequence for the whole of its life: the module's own way has not."""
    uuid._generate_time_safe = uuid._last_timestamp = None
    uuid._node = int.from_bytes(fresh()[:6], "big") | 1 << 40  # as for one that is no network card's


def renew_tempfile(tempfile):
    tempfile._name_sequence = None  # it would notice another pid, and all cells have the same one


def renew_ssl(module):
    module.RAND_add(fresh(), float(FRESH))


def renew_logging(logging):
    import time
    logging._startTime = time.time()


def renew_multiprocessing(process):
    process.current_process().authkey = fresh()


def renew_matplotlib(matplotlib):
    """Its directory was the zygote's; see make_config_directory of guest_hooks.py."""
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
