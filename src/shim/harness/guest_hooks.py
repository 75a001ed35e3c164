"""Does extra work when certain libraries are imported, at no cost for programs that do not import them.

A finder in front of sys.meta_path answers only for the modules of one small table. It asks the other finders,
and lends their spec a loader that does the extra work around the real one and then puts the real one back.
"""
import builtins
import sys

OUTPUT = "/output"
FONT_LISTS = "/usr/share/hotcell/matplotlib"
FAR_LETTERS = "\u2e80"  # the first of those that need a font of their own, radicals

cell = ""  # file name of the guest's program
sources = {}  # file name -> text of the program and of a session's earlier ones: for tracebacks, warnings and inspect
given = [False]  # whether the last run had standard input, and its arguments
run_environment = {}  # name -> (value before, value) of the variables that the last run of the session was given
before = {}  # module name -> function that is called with the module before it is executed
after = {}  # module name -> list of functions that are called with the finished module


class Drawing:
    """The policy's rules for figures, and the state of the figures that the program has shown."""

    def __init__(self, rules, count, size):
        self.rules = rules
        self.count = count
        self.size = size  # most bytes of one file
        self.directory = rules.get("directory", "figures")
        self.first_only = rules.get("which", "all") == "first"
        self.shown = []  # plotly figures, one entry for each call of show()
        self.savefig = None  # matplotlib's own Figure.savefig, whatever the program puts in its place
        self.shows = 0  # plots that show() was asked to number, in all runs of a session
        self.far_letters = False  # a text has Chinese, Japanese or Korean letters
        self.begin()

    def begin(self):
        """Begin a run; the libraries keep their settings of a session's earlier runs."""
        self.shown.clear()
        self.saved = []  # matplotlib's figures: guest_figures.Saved
        self.written = []  # plotly's figures that show() has saved: guest_figures.Shown
        self.asked = 0  # figures of matplotlib that the harness was to save
        self.rows = {}  # path below the output directory -> (MIME type, kind, data of the chart or None), in the order of saving
        self.images = []  # figures drawn at the end: (figure, {MIME type: path})
        self.warnings = []
        self.late = False  # a figure took too long: no others are saved
        self.displays = []  # JSON texts: what display() has shown
        self.display_ids = {}  # id -> index in `displays`
        self.display_room = 0  # bytes that further displays may take
        self.display_values = 0  # JSON values in them, or some more
        self.displays_left_out = 0
        self.display_warnings = []

    def warn(self, text):
        self.warnings.append(text)


class Helpers:
    """The object that the policy's own code sees as "hotcell"."""

    def __init__(self):
        self.output = OUTPUT
        self.shown = drawing_state.shown

    @property
    def called_by_program(self):
        """A function that tells whether the program, and no library, calls the function that calls it; there once the program runs."""
        return called_by_program

    @staticmethod
    def to_letter(value, room, other):
        """As to_letter of values.py."""
        return part("values", "to_letter")(value, room, other)

    @staticmethod
    def of_letter(node, other):
        """As of_letter of values.py."""
        return part("values", "of_letter")(node, other)

    @staticmethod
    def watch_calls(watcher):
        """Ask watcher(caller, callee, function, code, offset) about each call of the program; True: no more about this place.
        RuntimeError: the tree's Python is older than 3.12."""
        part("calls", "watch")(watcher)

    @staticmethod
    def after_import(name, action):
        """Call action(module) as soon as the module is imported."""
        if name in sys.modules:
            action(sys.modules[name])
        else:
            after.setdefault(name, []).append(action)


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
        for action in after.get(self.name, ()):
            attempt(action, module)

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


class Notebook:
    """Finds IPython.display, behind all other finders: a tree that has IPython keeps its own."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("IPython") or name not in part("display", "MODULES"):
            return None
        from _frozen_importlib import ModuleSpec
        return ModuleSpec(name, Notebook, is_package=name in ("IPython", "IPython.core"))

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        part("display", "fill_module")(module, display)


def display(*objects, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, **options):
    """Show objects in the forms that they have (HTML, images, tables and others), as results of the job."""
    return part("display", "display")(drawing_state, OUTPUT, objects, raw, display_id)


def update_display(obj, *, display_id, raw=False, **options):
    """Show an object in the place of the last display with this id."""
    part("display", "update")(drawing_state, OUTPUT, obj, display_id, raw)


display.update = update_display


def displays():
    return drawing_state.displays, drawing_state.displays_left_out, drawing_state.display_warnings


def attempt(action, module):
    """Call action(module); an exception in our extra work must not make the import fail."""
    if action is not None:
        try:
            action(module)
        except Exception:
            pass


def install(filename, seed, figures, count, size):
    global cell, drawing_state
    cell = filename
    drawing_state = Drawing(figures, count, size)
    before["matplotlib"] = make_config_directory
    before["matplotlib.font_manager"] = copy_font_lists
    after["matplotlib.figure"] = [tell_what_is_saved]
    after["matplotlib.font_manager"] = [choose_fonts, remove_font_lists]
    after["linecache"] = [remember_source]
    after["plotly.io._renderers"] = [collect_shown]
    after["threading"] = [show_source_lines]
    if figures.get("fallback"):
        after["matplotlib.text"] = [watch_texts]
    after["matplotlib.pyplot"] = [SHOWS[figures.get("show", "save")]]
    builtins.display = display
    if seed is not None:
        after["random"] = after["numpy.random.mtrand"] = [lambda module: module.seed(seed)]
    sys.meta_path.insert(0, Finder)
    sys.meta_path.append(Notebook)


def feed(arguments, environment, has_input, is_run):
    """Give the program its arguments, its environment and a sys.stdin. The present one was made over the cell's /dev/null if
    this is a warm cell or a session, and has noted that it can seek. A run of a session has its environment to itself."""
    if arguments or len(given) > 1:
        given[1:] = arguments
        sys.argv = [cell, *arguments]
    if environment or run_environment:
        set_environment(environment, is_run)
    if has_input or given[0]:
        given[0] = has_input
        from io import BufferedReader, FileIO, TextIOWrapper
        raw = FileIO(0, "r", closefd=False)
        raw.name = "<stdin>"
        sys.stdin = sys.__stdin__ = TextIOWrapper(BufferedReader(raw), "utf-8", "surrogateescape", "\n")
        sys.stdin.mode = "r"


def set_environment(environment, is_run):
    """Take back what the last run was given, as far as programs have left it, and set what this one is given."""
    import os
    import time
    changed = {"TZ"} & (environment.keys() | run_environment.keys())
    for name, (was, given_value) in run_environment.items():
        if os.environ.get(name) != given_value:
            continue
        if was is None:
            del os.environ[name]
        else:
            os.environ[name] = was
    run_environment.clear()
    if is_run:
        run_environment.update({name: (os.environ.get(name), value) for name, value in environment.items()})
    os.environ.update(environment)
    if changed:
        time.tzset()


def helpers():
    return Helpers()


def drawing():
    return drawing_state


def begin_run(filename):
    global cell
    cell = filename
    drawing_state.begin()


def random_state():
    return sys.modules["random"]._inst.getstate() if "random" in sys.modules else None


def restore_random(state):
    if state is not None:
        sys.modules["random"]._inst.setstate(state)


def start(text, count, size, room):
    """Take up the program's text, and the limits of this job or run. `room`: bytes of its whole report."""
    drawing_state.count, drawing_state.size = count, size
    drawing_state.display_room = room // 2
    sources[cell] = text
    if "linecache" in sys.modules:
        attempt(remember_source, sys.modules["linecache"])


def remember_source(linecache):
    from io import StringIO
    for name, source in sources.items():
        if name != cell and name in linecache.cache:
            continue  # of an earlier run of a session
        lines = StringIO(source, newline=None).readlines()  # the line ends that the tokenizer knows, no others
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        linecache.cache[name] = (len(source), None, lines, name)  # no mtime: never looked for on disk


def make_config_directory(module):
    import os
    make_folder(os.environ["MPLCONFIGDIR"], 0o700)


def copy_font_lists(module):
    """Copy matplotlib's font cache from the tree; without it the first import reads all fonts."""
    import os
    config = os.environ["MPLCONFIGDIR"]
    names = [name for name in os.listdir(FONT_LISTS) if name.startswith("fontlist")]
    for name in names:
        with open(create_file(f"{config}/{name}", True), "wb") as file:
            file.write(read_file(f"{FONT_LISTS}/{name}"))


def remove_font_lists(module):
    """Remove the copied font cache: matplotlib has read it, and it is no result of the program."""
    import os
    config = os.environ["MPLCONFIGDIR"]
    if config.startswith(OUTPUT + "/"):
        for name in os.listdir(FONT_LISTS):
            remove_file(f"{config}/{name}")


def choose_fonts(manager):
    """Put the policy's font families in front, unless the program has chosen families."""
    import matplotlib
    there = {font.name for font in manager.fontManager.ttflist}
    families = [name for name in drawing_state.rules.get("fonts", []) if name in there]
    for params in (matplotlib.rcParamsDefault, matplotlib.rcParams):
        if families and params["font.family"] == ["sans-serif"]:
            params["font.family"] = [*families, "sans-serif"]
        if "unicode_minus" in drawing_state.rules:
            params["axes.unicode_minus"] = drawing_state.rules["unicode_minus"]
    families = [name for name in drawing_state.rules.get("fallback", []) if name in there]
    if families:
        fall_back_to(families, manager)


def fall_back_to(families, manager):
    """Have matplotlib look for characters also in these families, behind the text's own, whatever styles the program sets."""
    find = manager.FontManager._find_fonts_by_props
    paths = []

    def _find_fonts_by_props(self, *args, **kwargs):
        found = find(self, *args, **kwargs)
        if not drawing_state.far_letters:
            return found
        if not paths:
            paths.extend(manager.findfont(name, fallback_to_default=False) for name in families)
        return found + [path for path in paths if path not in found]
    manager.FontManager._find_fonts_by_props = _find_fonts_by_props


def watch_texts(module):
    """Note texts with letters that no ordinary font has: the large fallback fonts, which make each figure slower, are only
    used after such a text."""
    set_text = module.Text.set_text

    def watched(self, s):
        set_text(self, s)
        if max(self._text, default="") >= FAR_LETTERS:
            drawing_state.far_letters = True
    watched.__name__, watched.__doc__ = set_text.__name__, set_text.__doc__
    module.Text.set_text = watched


def show_source_lines(threading):
    """Show exceptions in threads by the module traceback, as the interpreter's own display does not look into linecache."""
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
        drawing_state.shown.append(fig)
        if len(drawing_state.shown) <= drawing_state.count:
            now("show_plotly", drawing_state, OUTPUT, fig)
    renderers.show = show


def now(function, *arguments):
    """Call a function of guest_figures. Its exception does not end the program: the figure is saved, or the failure
    reported, at the end."""
    try:
        part("figures", function)(*arguments)
    except (MemoryError, TimeoutError):
        raise
    except Exception:
        pass


def tell_what_is_saved(module):
    """Announce files that the program itself saves in the directory for figures."""
    save = drawing_state.savefig = module.Figure.savefig

    def savefig(self, fname, *args, **kwargs):
        saved = save(self, fname, *args, **kwargs)
        if type(fname).__module__ == "pathlib":
            fname = str(fname)
        if type(fname) is str and figure_path(fname) is not None:
            now("tell_saved", drawing_state, self, fname)
        return saved
    savefig.__name__, savefig.__qualname__, savefig.__module__ = "savefig", "Figure.savefig", module.__name__
    savefig.__doc__, savefig.__wrapped__ = save.__doc__, save
    module.Figure.savefig = savefig


def save_and_keep(pyplot):
    replace_show(pyplot, lambda: None)


def save_and_close(pyplot):
    replace_show(pyplot, lambda: pyplot.close("all"))


def replace_show(pyplot, end):
    show_all = pyplot.show

    def show(*args, **kwargs):
        now("show_open", drawing_state, OUTPUT)
        end()
        return show_all(*args, **kwargs)
    show.__doc__, show.__module__, show.__wrapped__ = show_all.__doc__, pyplot.__name__, show_all
    pyplot.show = show


def ignore_show(pyplot):
    def show(*args, **kwargs):
        """Nothing: figures are kept for the job's result, and there is no screen here."""
    pyplot.show = show


def save_current(pyplot):
    space = sys.modules["__main__"].__dict__

    def show(*args, **kwargs):
        """Save the current figure, if there is something on it, and close it."""
        if not pyplot.get_fignums():
            return
        figure = pyplot.gcf()
        try:
            if figure.get_axes():
                save_shown(figure, space)
        except Exception as error:
            print(f"Warning: Could not save plot: {error}")
        pyplot.close(figure)
    pyplot.show = show


def save_shown(figure, space):
    name = part("figures", "show_current")(drawing_state, OUTPUT, figure)
    plots = space["results"].get("plots") if isinstance(space.get("results"), dict) else None
    if isinstance(plots, list) and name:
        plots.append(name)


SHOWS = {"keep": save_and_keep, "save": save_and_close, "current": save_current, "ignore": ignore_show}
