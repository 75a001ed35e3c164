"""Says in one sentence what the writer of a program can do about the exception that ended it.

All objects here are the guest's: only texts of exact types are printed, and all is bounded. An exception in here means that
nothing is said.
"""
import sys

NOTE = "hint: "  # a refusal's exception has a note that begins so
CHAINED = 10  # exceptions that one was raised from, as far as they are looked at
FRAMES = 2000  # most frames of one traceback
LISTED = 20  # names in one list
LONGEST = 60  # characters of one name
# Libraries that are named if they are there, those that programs want most first: all that recipes (rootfs) have.
LIBRARIES = ("numpy", "pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "seaborn", "plotly", "sympy", "networkx", "PIL",
             "openpyxl", "tabulate", "bs4", "html5lib", "lxml", "yaml", "jinja2", "tqdm", "dateutil", "pytz", "joblib", "patsy", "mpmath",
             "pytest")
OTHER_NAMES = {"scikit-learn": "sklearn", "scikit_learn": "sklearn", "pillow": "PIL", "Pillow": "PIL", "beautifulsoup4": "bs4",
               "pyyaml": "yaml", "PyYAML": "yaml", "python_dateutil": "dateutil"}  # names of packages -> of their modules
# Names that programs usually give to a module, or take from one -> the statement that binds them.
USUAL_IMPORTS = {
    "np": "import numpy as np", "pd": "import pandas as pd", "plt": "import matplotlib.pyplot as plt", "mpl": "import matplotlib as mpl",
    "mdates": "import matplotlib.dates as mdates", "sns": "import seaborn as sns", "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go", "stats": "from scipy import stats", "sm": "import statsmodels.api as sm",
    "smf": "import statsmodels.formula.api as smf", "nx": "import networkx as nx", "pl": "import polars as pl", "pa": "import pyarrow as pa",
    "xr": "import xarray as xr", "sp": "import sympy as sp", "Image": "from PIL import Image", "BeautifulSoup": "from bs4 import BeautifulSoup",
    "tqdm": "from tqdm import tqdm", "dt": "import datetime as dt", "ET": "import xml.etree.ElementTree as ET",
    "timedelta": "from datetime import timedelta", "Path": "from pathlib import Path", "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict", "deque": "from collections import deque", "Decimal": "from decimal import Decimal",
    "StringIO": "from io import StringIO", "BytesIO": "from io import BytesIO", "dataclass": "from dataclasses import dataclass",
    "partial": "from functools import partial", "reduce": "from functools import reduce", "deepcopy": "from copy import deepcopy"}
NAMES_OF_DATA = ("df", "data", "dataset", "frame", "table")  # what programs call an input of which they were not told the name
SAYS_OWN_MODULES = sys.version_info >= (3, 12)  # the traceback of a NameError asks "Did you forget to import" one of Python's own modules?
LAYERS = "/usr/lib/layers/"  # where the layers of a tree are mounted: all modules of layers are named
SCREENS = ("tkinter", "_tkinter", "gi", "wx", "PyQt5", "PyQt6", "PySide2", "PySide6", "qtpy")
SCARCE = 65536  # bytes left in a directory that is nearly full
OF_TREE = ("", "bin", "dev", "etc", "input", "lib", "lib32", "lib64", "output", "proc", "root", "run", "sbin", "sys", "usr",
           "var")  # first parts of paths at which no directory of the host can be given
NO_ROUTE = (97, 99, 101, 113)  # EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH, EHOSTUNREACH


def advise(error, facts):
    """The advice, or None. `facts`: inputs [(name, path)], limits {name: (value or None, words that raise it or None)}, input, stdin
    (how the sender passes data and standard input; stdin None: it passes none), network, processes, own_modules (whether the policy allows
    them)."""
    for each in chain(error):
        for adviser in ADVISERS:
            try:
                said = adviser(each, facts)
            except Exception:  # the objects are not what they seem to be
                said = None
            if said:
                return said
    return None


def chain(error):
    found = []
    while error is not None and len(found) < CHAINED and not any(error is each for each in found):
        found.append(error)
        hidden = error.__suppress_context__ or error.__cause__ is not None
        error = error.__cause__ if hidden else error.__context__
    return found


def listed(names, most=LISTED):
    """The names as a list in text, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(name if len(name) <= LONGEST else name[:LONGEST - 3] + "..." for name in names[:most]) + more


def frames(error):
    """(file name, local variables) of the frames through which the exception came, the innermost first."""
    found, trace = [], error.__traceback__
    while trace is not None and len(found) < FRAMES:
        found.append(trace.tb_frame)
        trace = trace.tb_next
    return [(frame.f_code.co_filename, frame.f_locals) for frame in reversed(found)]


def came_through(error, *files):
    return any(name.endswith(files) for name, _ in frames(error))


def close_to(name, names):
    import difflib
    lower = {each.lower(): each for each in reversed(names)}
    found = difflib.get_close_matches(name.lower(), list(lower), 1, 0.7)
    return lower[found[0]] if found else None


# ---- refusals ----

def of_refusal(error, facts):
    """The hint of a refusal is in a note (guard/denial.c)."""
    notes = error.__dict__.get("__notes__")
    for note in notes[:LISTED] if type(notes) is list else ():
        if type(note) is str and note.startswith(NOTE):
            return note[len(NOTE):500]
    return None


def of_network(error, facts):
    lookup = type(error).__name__ == "gaierror"
    if not facts["network"] and isinstance(error, OSError) and (lookup or error.errno in NO_ROUTE):
        return f"There is no network in the cell; pass data with {facts['input']}."
    return None


def of_processes(error, facts):
    if facts["processes"] or not isinstance(error, (OSError, ImportError)):
        return None
    if came_through(error, "/multiprocessing/synchronize.py", "/concurrent/futures/process.py", "/multiprocessing/context.py"):
        return "There are no other processes in the cell; use threads, such as ThreadPoolExecutor, for work side by side."
    return None


# ---- what there is instead ----

def of_columns(error, facts):
    """The columns of the frame, or the labels of the index, that lacks a name."""
    if isinstance(error, AttributeError) and of_pandas(error.obj, "DataFrame"):
        return say_labels("columns", error.obj.columns, error.name)
    if not isinstance(error, KeyError):
        return None
    index = frame = None
    for name, local in frames(error):
        if not name.startswith(("/", "pandas/")) or name.startswith(("/output/", "/tmp/")):
            break  # the program's own: pandas only called it
        for each in (local.get("self"), local.get("obj")):
            if index is None and of_pandas(each, "Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "Int64Index",
                                           "Float64Index", "CategoricalIndex"):
                index = each
            if frame is None and of_pandas(each, "DataFrame"):
                frame = each
    key = error.args[0] if error.args and type(error.args[0]) is str else None
    if frame is not None and (index is None or index is frame.columns):
        return say_labels("columns", frame.columns, key)
    return say_labels("labels of the index", index, key) if index is not None else None


def of_pandas(thing, *names):
    return type(thing).__name__ in names and type(thing).__module__.startswith("pandas.core.")


def say_labels(what, index, key):
    count = len(index)
    labels = [each for each in index[:LISTED * 10] if type(each) in (str, int, float, bool)]
    if not labels:
        return f"There are no {what}." if count == 0 else None
    more = f" and {count - LISTED} more" if count > LISTED else ""
    near = close_to(key, [each for each in labels if type(each) is str]) if type(key) is str and len(key) < LONGEST else None
    meant = f" Perhaps {repr(near)[:LONGEST]} is meant." if near is not None else ""
    return f"The {what} are: {listed([repr(each) for each in labels[:LISTED]])}{more}.{meant}"


def missing_module(error):
    """The name of the module, of pandas' Parquet the first of two that it has tried."""
    if isinstance(error, ModuleNotFoundError):
        return error.name
    text = error.args[0] if type(error) is ImportError and error.args else None
    _, found, rest = text[:2000].partition("Missing optional dependency '") if type(text) is str else ("", "", "")
    return rest.partition("'")[0] if found else None


def of_module(error, facts):
    name = missing_module(error)
    if type(name) is not str or len(name) > LONGEST:
        return None
    top, _, rest = name.partition(".")
    own = own_module(top)
    if own is not None and facts["own_modules"]:
        return f"{own}, from which nothing is imported by itself: import sys; sys.path.append('.') comes before the import."
    if own is not None:
        return f"{own}, and this policy imports nothing from there (code.writes is \"guarded\"): put its code into the program."
    if top in SCREENS:
        return "There is no screen in the cell: leave out matplotlib.use() and the like, as figures are saved without it."
    layers, there = modules_below(LAYERS), modules_there()
    if rest and top in there:
        return f"The library {top} is there, and has no module {rest}."
    real = OTHER_NAMES.get(top) or close_to(top, [each for each in there if may_import(each)])
    optional = not isinstance(error, ModuleNotFoundError)  # the program has not written this name
    meant = f" Perhaps {real} is meant." if real in there and may_import(real) and not optional else ""
    libraries = listed([each for each in (*layers, *(each for each in LIBRARIES if each in there and each not in layers)) if may_import(each)])
    rest = f" Libraries that are there: {libraries}, and Python's own." if libraries else " Python's own libraries are there."
    return f"{top} is not installed, and nothing can be installed in the cell.{meant}{rest}"


def of_name(error, facts):
    """The import that the program lacks, unless the traceback says so already; or the names that its data has."""
    name = error.name if type(error) is NameError else None
    if type(name) is not str or len(name) > LONGEST:
        return None
    usual = USUAL_IMPORTS.get(name)
    if usual is not None:
        return f"{usual} is missing." if is_there(usual.split()[1]) else None
    if name in NAMES_OF_DATA and facts["inputs"] and facts["files"] is None:
        return f"The job's inputs: {inputs_of(facts)}."
    if name in sys.stdlib_module_names:
        known = not SAYS_OWN_MODULES
    else:
        known = name in LIBRARIES or name in modules_below(LAYERS)
    return f"If the module {name} is meant, import {name} is missing." if known and is_there(name) else None


def is_there(module):
    """Whether the program could import this module, as far as its first name tells."""
    return module.partition(".")[0] in modules_there() and may_import(module)


def own_module(name):
    """Where a module of this name is that is not the tree's, as the beginning of a sentence; None: there is none."""
    import posix
    for path in (f"{name}.py", f"{name}/__init__.py", name):
        try:
            is_folder = posix.stat(path).st_mode & 0o170000 == 0o040000
        except OSError:
            continue
        if path != name or is_folder:
            return f"{path} is in the working directory"
    return None


def modules_there():
    """Names of the modules that can be imported, without those that begin with an underscore."""
    return [*dict.fromkeys([each for each in sys.stdlib_module_names if each[:1] != "_"] + modules_below("/usr/"))]


def modules_below(place):
    """Names of the modules in the folders of the module path that lie below `place`, as those of `modules_there`."""
    import posix
    found = {}
    for folder in sys.path[:LISTED]:
        if type(folder) is str and folder.startswith(place):
            try:
                found.update(dict.fromkeys(name.partition(".")[0] for name in posix.listdir(folder)[:5000]
                                           if "." not in name or name.endswith((".py", ".so"))))
            except OSError:
                pass
    return [name for name in found if not name.startswith("_") and name.isidentifier()]


def of_file(error, facts):
    if not isinstance(error, FileNotFoundError) or error.filename is None:
        return None
    inputs = inputs_of(facts) if facts["files"] is None else ""
    lost = missing_folder(error.filename)
    here = working_files()
    said = [f"There is no directory {lost}; to write there, make it with os.makedirs({lost!r})."] if lost is not None else []
    said += [f"The job's inputs: {inputs}." if inputs else "The job has no inputs." if facts["files"] is None else
             f"Of the host's files a program sees those in {facts['files']}."]
    if here is not None:
        said.append(f"Files in the working directory: {listed(here)}." if here else "The working directory is empty.")
    return " ".join(said)


def inputs_of(facts):
    return listed([f"{path} (variable {name})" for name, path in facts["inputs"]])


def of_temporary(error, facts):
    """Of the module tempfile, where a program may write nowhere that it looks."""
    if not isinstance(error, FileNotFoundError) or error.filename is not None or not str(error.strerror).startswith("No usable temporary directory"):
        return None
    return f"Nothing can be written to /tmp here: write files in {facts['files'] or '/output'}, and have them made there with tempfile's argument dir."


def missing_folder(path):
    """The directory of the file, if that is where the program may write and there is none; None otherwise."""
    import posix
    if type(path) is not str or not path.isprintable() or len(path) > 10 * LONGEST or "/" not in path:
        return None
    folder = path.rpartition("/")[0]
    if not folder:
        return None  # the file would be in the root, which is there
    whole = folder if folder.startswith("/") else f"{posix.getcwd()}/{folder}"
    if not whole.startswith(("/output/", "/tmp/")) or ".." in whole.split("/"):
        return None
    try:
        posix.stat(folder)
    except FileNotFoundError:
        return folder
    return None


def working_files():
    """Names in the working directory; None where a program has not made that directory itself."""
    import posix
    here = posix.getcwd()
    if here not in ("/output", "/tmp") and not here.startswith(("/output/", "/tmp/")):
        return None
    return sorted(name for name in posix.listdir(".")[:1000] if not name.startswith(".") and name.isprintable())


def of_empty_table(error, facts):
    if type(error).__name__ != "EmptyDataError" or type(error).__module__ != "pandas.errors":
        return None
    return "The file is empty, or its lines are: it has no names of columns. Look at its size before it is read, or catch pandas.errors.EmptyDataError."


def of_input(error, facts):
    """Of input() where descriptor 0 is the cell's /dev/null."""
    import posix
    if not isinstance(error, EOFError) or posix.fstat(0).st_mode & 0o170000 != 0o020000:
        return None
    given = facts["stdin"]
    return f"The job has no standard input; give it some with {given}." if given else f"Nobody answers here; pass values with {facts['input']}."


# ---- limits ----

def of_memory(error, facts):
    return say_limit("memory", facts) if isinstance(error, MemoryError) else None


def of_space(error, facts):
    if not isinstance(error, OSError) or error.errno not in (27, 28):  # EFBIG, ENOSPC
        return None
    if error.errno == 27:
        return say_limit("file", facts)
    import posix
    for name, folder in (("output", "/output"), ("tmp", "/tmp")):
        space = posix.statvfs(folder)
        if name not in facts["limits"]:
            continue
        if space.f_bavail * space.f_frsize < SCARCE:
            return say_limit(name, facts)
        if space.f_files and not space.f_favail:
            return say_limit(f"{name}_files", facts)
    # Some kernels do not count files in statvfs. To make one failed, as the error has its name, and there is room for its bytes.
    path = error.filename
    in_tmp = type(path) is str and (path if path.startswith("/") else f"{posix.getcwd()}/").startswith("/tmp/")
    return say_limit(("tmp" if in_tmp else "output") + ("_files" if type(path) is str else ""), facts)


def of_read_only(error, facts):
    """A directory of the host that was given read-only: below the root and outside of /tmp nothing else has a name that is not the
    tree's."""
    path = error.filename if isinstance(error, OSError) and error.errno == 30 else None  # EROFS
    if type(path) is not str or not path.startswith("/") or path.split("/")[1] in OF_TREE:
        return None
    import posix
    top = "/tmp" if path.startswith("/tmp/") else "/" + path.split("/")[1]
    posix.lstat(top)  # raises if the program would make a new name in the root
    return (f"This directory was given read-only ({facts['dir']}): have it given with the mode cow, as a copy that may be changed "
            "(or rw, where the policy's dirs.rw lets it), or write results below /output.")


def of_links(error, facts):
    """Links and special files, which a cell's kernel refuses, and which would not come out."""
    if not isinstance(error, PermissionError) or error.__traceback__ is None:
        return None
    import dis
    last = error.__traceback__
    for _ in range(FRAMES):
        if last.tb_next is None:
            break
        last = last.tb_next
    line = None
    for step in dis.get_instructions(last.tb_frame.f_code):
        if step.offset == last.tb_lasti:
            line = step.positions.lineno
    used = {step.argval for step in dis.get_instructions(last.tb_frame.f_code)
            if type(step.argval) is str and step.positions.lineno == line}
    if used & {"symlink", "link", "symlink_to", "hardlink_to", "link_to"}:
        return "Links cannot be made here, and none would come out: copy the file, as with shutil.copy."
    if used & {"mkfifo", "mknod"}:
        return "Named pipes and devices cannot be made here, and none would come out: write a plain file."
    return None


def say_limit(name, facts):
    value, words = facts["limits"][name]
    raised = f"which the sender of the job sets with {words}" if words else "which the sender of the job cannot raise"
    return f"limits.{name} is {value}, {raised}." if value else f"{folder_of(name)} may have no more files: limits.{name}, {raised}."


def folder_of(name):
    return f"/{name.partition('_')[0]}"


ADVISERS = (of_refusal, of_network, of_processes, of_columns, of_module, of_name, of_file, of_temporary, of_empty_table, of_input, of_memory, of_space,
            of_read_only, of_links)
