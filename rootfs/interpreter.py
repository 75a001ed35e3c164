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

    executable: str
    version: str
    minor: str
    tag: str
    implementation: str
    machine: str
    multiarch: str
    prefix: str
    base_prefix: str
    stdlib: str
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
        return Interpreter(executable=executable, **json.loads(answer.stdout))
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
        raise BuildError(BAD_INPUT, f"{executable}: expected a Python 3 interpreter: {last}") from error
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired) as error:
        raise BuildError(BAD_INPUT, f"{executable}: expected a Python 3 interpreter, got no answer from it") from error


def reference():
    """The interpreter that hotcell embeds: the one that runs this builder, without any virtual environment."""
    found = ask(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    if not os.path.isfile(os.path.join(found.stdlib, "os.py")):
        raise BuildError(UNAVAILABLE, f"{found.stdlib}: expected the standard library: apt-get install python3")
    return found


def check(chosen, embedded):
    """Refuses an interpreter whose distributions the embedded one could not load."""
    if chosen.implementation != embedded.implementation:
        raise BuildError(BAD_INPUT, f"{chosen.executable} is {chosen.implementation}, but this hotcell embeds "
                                    f"{embedded.implementation}")
    if chosen.minor != embedded.minor:
        raise BuildError(BAD_INPUT, f"{chosen.executable} is Python {chosen.minor}, but this hotcell embeds "
                                    f"{embedded.minor}: make the environment with python{embedded.minor}")
    if (chosen.machine, chosen.multiarch) != (embedded.machine, embedded.multiarch) and chosen.multiarch:
        raise BuildError(BAD_INPUT, f"{chosen.executable} is for {chosen.multiarch}, but this hotcell is for "
                                    f"{embedded.multiarch or embedded.machine}")
