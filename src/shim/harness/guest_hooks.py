"""What must happen the moment that some library is imported, and at no cost for programs that do not.

A finder in front of sys.meta_path answers only for the modules of one small table. It asks the other finders,
and lends their spec a loader that does the extra work around the real one and then puts the real one back.
"""
import sys

CELL = "<cell>"
FONT_LISTS = "/usr/share/hotcell/matplotlib"

source = ""  # the guest's program, for tracebacks, warnings and inspect
shown = []  # plotly figures for which show() was called
before = {}  # module name -> what to do before it is executed
after = {}  # module name -> what to do with the finished module


class Loader:
    """Stands in for a module's own loader until the module is executed."""

    def __init__(self, loader, name):
        self.loader = loader
        self.name = name

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        attempt(before.get(self.name), module)
        self.loader.exec_module(module)
        attempt(after.get(self.name), module)

    def __getattr__(self, name):
        return getattr(self.loader, name)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in after and name not in before:
            return None
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if finder is Finder or find_spec is None:
                continue
            spec = find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, name)
                return spec
        return None


def attempt(action, module):
    """An import must not fail for what we wanted on top of it."""
    if action is not None:
        try:
            action(module)
        except Exception:
            pass


def install(seed):
    before["matplotlib.font_manager"] = copy_font_lists
    after["linecache"] = remember_source
    after["plotly.io._renderers"] = collect_shown
    after["threading"] = show_source_lines
    if seed is not None:
        after["random"] = after["numpy.random.mtrand"] = lambda module: module.seed(seed)
    sys.meta_path.insert(0, Finder)


def set_source(text):
    global source
    source = text
    if "linecache" in sys.modules:
        attempt(remember_source, sys.modules["linecache"])


def remember_source(linecache):
    from io import StringIO
    lines = StringIO(source, newline=None).readlines()  # the line ends that the tokenizer knows, no others
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[CELL] = (len(source), None, lines, CELL)  # no mtime: never looked for on disk


def copy_font_lists(module):
    """The tree brings matplotlib's font cache; without it the first import looks through all fonts."""
    import os
    config = os.environ["MPLCONFIGDIR"]
    names = [name for name in os.listdir(FONT_LISTS) if name.startswith("fontlist")]
    os.makedirs(config, exist_ok=True)
    for name in names:
        with open(os.path.join(FONT_LISTS, name), "rb") as file:
            fonts = file.read()
        with open(os.path.join(config, name), "xb") as file:
            file.write(fonts)


def show_source_lines(threading):
    """The interpreter's own display of an exception in a thread looks for source in files, not in linecache."""
    def excepthook(args):
        if args.exc_type is SystemExit:
            return
        import traceback
        print(f"Exception in thread {args.thread.name if args.thread else '?'}:", file=sys.stderr)
        traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback, file=sys.stderr)
    threading.excepthook = excepthook


def collect_shown(renderers):
    def show(fig, *args, **kwargs):
        """Keep the figure for the job's result; there is no browser here."""
        if not any(fig is other for other in shown):
            shown.append(fig)
    renderers.show = show


def shown_figures():
    return shown
