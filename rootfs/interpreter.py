"""interpreter - asks a Python interpreter, in a process of its own, for its version and paths, and checks that it fits."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from errors import BAD_INPUT, UNAVAILABLE, BuildError

# Runs in the interpreter that is asked, which may be any version: no syntax that an old one would refuse.
QUESTION = """
import json, os, platform, sys, sysconfig
info = getattr(sys.implementation, "version", sys.version_info)
print(json.dumps({
    "version": platform.python_version(),
    "minor": "%d.%d" % sys.version_info[:2],
    "tag": sys.implementation.cache_tag,
    "implementation": platform.python_implementation(),
    "machine": platform.machine(),
    "multiarch": sysconfig.get_config_var("MULTIARCH") or "",
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
    "stdlib": sysconfig.get_path("stdlib"),
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "builtins": list(sys.builtin_module_names),
    "path": [entry for entry in sys.path if os.path.isdir(entry)],
    "markers": {
        "os_name": os.name,
        "sys_platform": sys.platform,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_version": "%d.%d" % sys.version_info[:2],
        "python_full_version": platform.python_version(),
        "implementation_name": sys.implementation.name,
        "implementation_version": "%d.%d.%d" % tuple(info)[:3],
    },
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """The version and paths of an interpreter, as it reports them."""

    executable: str  # without any virtual environment
    asked: str       # as it was named
    version: str
    minor: str
    tag: str
    implementation: str
    machine: str
    multiarch: str
    prefix: str
    base_prefix: str
    stdlib: str
    free_threaded: bool
    builtins: list
    path: list
    markers: dict

    @property
    def environment(self):
        """Whether this is a virtual environment's interpreter."""
        return self.prefix != self.base_prefix


def ask(executable):
    """The interpreter EXECUTABLE, as it describes itself."""
    if os.path.isdir(executable) or not os.access(executable, os.X_OK):
        raise BuildError(BAD_INPUT, f"{executable}: expected a Python interpreter, such as ENVIRONMENT/bin/python")
    try:
        answer = subprocess.run([executable, "-I", "-c", QUESTION], capture_output=True, text=True, check=True,
                                stdin=subprocess.DEVNULL, timeout=60)
        return Interpreter(asked=executable, **json.loads(answer.stdout))
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
        raise BuildError(BAD_INPUT, f"{executable}: expected a Python 3 interpreter: {last}") from error
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired) as error:
        raise BuildError(BAD_INPUT, f"{executable}: expected a Python 3 interpreter, got no answer from it") from error


def own():
    """The minor version of the interpreter that runs this builder."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def reference(executable=None):
    """The interpreter EXECUTABLE without any virtual environment: by default the one that runs this builder."""
    found = ask(os.path.realpath(executable or getattr(sys, "_base_executable", sys.executable)))
    if not os.path.isfile(os.path.join(found.stdlib, "os.py")):
        raise BuildError(UNAVAILABLE, f"{found.stdlib}: expected the standard library: apt-get install python3")
    return found


def check(chosen, embedded, shims):
    """Refuses an interpreter that no shim embeds. SHIMS: {version: whether there is a shim for it}; empty: not known."""
    if chosen.implementation != embedded.implementation:
        raise BuildError(BAD_INPUT, f"{chosen.asked} is {chosen.implementation}, but this hotcell embeds "
                                    f"{embedded.implementation}")
    if chosen.free_threaded:
        raise BuildError(BAD_INPUT, f"{chosen.asked} is a free-threaded build of Python {chosen.minor}, which hotcell does not "
                                    "run, as its guard relies on the global lock: name another build")
    fitting = [minor for minor, there in shims.items() if there] or [embedded.minor]
    if chosen.minor in shims and chosen.minor not in fitting:
        raise BuildError(UNAVAILABLE, f"{chosen.asked} is Python {chosen.minor}, for which this hotcell has no shim: in hotcell's sources, "
                                      f"'make shims PYTHONS={chosen.asked}' and 'make install' put it there")
    if chosen.minor not in fitting:
        advice = f"name a python{fitting[0]} with --python" if chosen is embedded else f"make the environment with python{fitting[0]}"
        raise BuildError(BAD_INPUT, f"{chosen.asked} is Python {chosen.minor}, but this hotcell embeds {', '.join(fitting)}: {advice}")
    if (chosen.machine, chosen.multiarch) != (embedded.machine, embedded.multiarch) and chosen.multiarch:
        raise BuildError(BAD_INPUT, f"{chosen.asked} is for {chosen.multiarch}, but this hotcell is for "
                                    f"{embedded.multiarch or embedded.machine}")


def embedded_for(chosen, shims):
    """The interpreter whose standard library a tree gets for the distributions of CHOSEN: the one that runs this builder,
    or for another version that has a shim the one that CHOSEN is, or that its environment was made of."""
    builder = reference()
    check(chosen or builder, builder, shims)
    return builder if chosen is None or chosen.minor == builder.minor else reference(chosen.executable)
