"""requirements - the part of Python's dependency language that a closure needs: names, extras and markers.

Version ranges are read and ignored: the installer of the distributions has chosen versions that fit.
"""

import re
from dataclasses import dataclass

# Lines are strangers': no part gives back what a next part could take, so that a line takes time by its length and no more.
NAME = r"((?>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?))(?:\s*+\[([^]]*+)\])?"  # with extras
REQUIREMENT = re.compile(NAME + r"([^;@]*+)(?:@\s*+\S+\s*)?(?:;(.*))?", re.DOTALL)
LONGEST = 4096  # characters of a requirement
DEEPEST = 32    # parentheses in each other
TOKEN = re.compile(r"\s*(\(|\)|<=|>=|===|==|!=|~=|<|>|'[^']*'|\"[^\"]*\"|not\s+in\b|[A-Za-z_][A-Za-z0-9_.]*)")
VERSION = re.compile(r"v?\d+(\.\d+)*(\.\*)?")
SPELLED = re.compile(r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|preview|pre)[-_.]?(\d*))?"
                     r"(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?", re.ASCII)
STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
VERSION_NAMES = ("python_version", "python_full_version", "implementation_version")
OPERATORS = ("<=", ">=", "===", "==", "!=", "~=", "<", ">", "in", "not in")


@dataclass(frozen=True)
class Requirement:
    """One line of Requires-Dist."""

    name: str
    extras: frozenset
    marker: str


def normal(name):
    """The one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def normal_version(version):
    """One spelling for all spellings of a version (PEP 440), to compare it with others; what is no version stays as it is."""
    match = SPELLED.fullmatch(version.lower())
    if not match:
        return version
    epoch, release, stage, stage_number, bare_post, post, post_number, dev, dev_number, local = match.groups()
    return (_number(epoch), re.sub(r"(\.0+)+$", "", re.sub(r"(?<!\d)0+(?=\d)", "", release)),
            stage and (STAGES.get(stage, stage), _number(stage_number)), (post or bare_post) and _number(bare_post or post_number),
            dev and _number(dev_number), local and re.sub(r"[-_]", ".", local))


def _number(digits):
    return (digits or "").lstrip("0") or "0"


def parse(line):
    """The requirement in LINE; ValueError when it is none."""
    line = line.strip()
    match = REQUIREMENT.fullmatch(line) if len(line) <= LONGEST else None
    if not match:
        raise ValueError(f"not a requirement of at most {LONGEST} characters: {line[:80]!r}")
    extras = frozenset(normal(extra.strip()) for extra in (match[2] or "").split(",") if extra.strip())
    return Requirement(normal(match[1]), extras, (match[4] or "").strip())


def applies(requirement, environment, extras):
    """Whether the requirement holds in ENVIRONMENT, when its owner was asked for with EXTRAS."""
    if not requirement.marker:
        return True
    return any(_Marker(requirement.marker, {**environment, "extra": extra}).value() for extra in ("", *sorted(extras)))


class _Marker:
    """Evaluates one marker by recursive descent: or, and, comparison, parentheses."""

    def __init__(self, text, environment):
        self.environment = environment
        self.tokens = []
        self.depth = 0  # parentheses that are open
        if len(text) > LONGEST:
            raise ValueError(f"not a marker of at most {LONGEST} characters: {text[:80]!r}")
        at, text = 0, text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"not a marker: {text!r}")
            self.tokens.append(" ".join(match[1].split()) if match[1][0] not in "'\"" else match[1])
            at = match.end()
        self.text = text

    def value(self):
        result = self._either()
        if self.tokens:
            raise ValueError(f"not a marker: {self.text!r}")
        return result

    def _take(self):
        if not self.tokens:
            raise ValueError(f"not a marker: {self.text!r}")
        return self.tokens.pop(0)

    def _next_is(self, word):
        if self.tokens and self.tokens[0] == word:
            self.tokens.pop(0)
            return True
        return False

    def _either(self):
        result = self._both()
        while self._next_is("or"):
            result = self._both() or result
        return result

    def _both(self):
        result = self._one()
        while self._next_is("and"):
            result = self._one() and result
        return result

    def _one(self):
        if self._next_is("("):
            return self._group()
        left, operator, right = self._take(), self._take(), self._take()
        if operator not in OPERATORS:
            raise ValueError(f"not a marker: {self.text!r}")
        versions = left in VERSION_NAMES or right in VERSION_NAMES
        left_value, right_value = self._operand(left), self._operand(right)
        if "extra" in (left, right):
            left_value, right_value = normal(left_value), normal(right_value)
        return _compare(left_value, operator, right_value, versions)

    def _group(self):
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"not a marker of at most {DEEPEST} parentheses in each other: {self.text[:80]!r}")
        result = self._either()
        if not self._next_is(")"):
            raise ValueError(f"not a marker: {self.text!r}")
        self.depth -= 1
        return result

    def _operand(self, token):
        if token[0] in "'\"":
            return token[1:-1]
        if token not in self.environment:
            raise ValueError(f"unknown name '{token}' in marker {self.text!r}")
        return self.environment[token]


def _compare(left, operator, right, versions):
    if operator == "in":
        return left in right
    if operator == "not in":
        return left not in right
    if versions and operator != "===" and VERSION.fullmatch(right):
        return _compare_versions(left, operator, right)
    if operator in ("==", "==="):
        return left == right
    if operator == "!=":
        return left != right
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right, "~=": False}[operator]


def _compare_versions(left, operator, right):
    wild = right.endswith(".*")
    want = _release(right)
    have = _release(left)
    if operator == "~=":
        return have >= want and have[:len(want) - 1] == want[:-1]
    if wild:
        have = have[:len(want)]
    width = max(len(have), len(want))
    have += (0,) * (width - len(have))
    want += (0,) * (width - len(want))
    return {"==": have == want, "!=": have != want, "<": have < want, ">": have > want,
            "<=": have <= want, ">=": have >= want}[operator]


def _release(version):
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    if not match:
        raise ValueError(f"not a version: {version[:80]!r}")
    return tuple(int(part) for part in match[1].split("."))
