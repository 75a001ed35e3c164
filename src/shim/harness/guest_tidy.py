"""Repairs a program that does not parse, where what is wrong with it comes from how models and notebooks write programs.

A program that parses is never changed, and lines keep their numbers. No object of the guest's is touched.
"""
DOUBLE, SINGLE = "\u201c\u201d\u201e", "\u2018\u2019\u201a"  # typographic quotes
UNSEEN = "\u00a0\u200b\ufeff"  # characters that look like a blank or like nothing
PYTHON = ("", "py", "py3", "python", "python3")  # languages of a fence that holds a program
INSTALLERS = ("pip", "pip3", "conda", "mamba", "apt", "apt-get")
MAGICS = ("%matplotlib", "%config", "%load_ext", "%reload_ext", "%autoreload", "%precision", "%pip", "%conda", "%mamba")
CELL_MAGICS = ("%%time", "%%timeit", "%%capture")  # alone on their line: the cell is the same program without them


def tidy(text, line, column, message):
    """The program without what the parser refused at this place (from 1), as (text, line, warning); None: it cannot be
    repaired without changing its meaning."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    if message.startswith("invalid character"):
        return with_plain_quotes(lines, line, column)
    if message.startswith("invalid non-printable character"):
        return without_unseen(lines, line, column)
    return without_command(lines, line, column) or without_fence(lines, line)


def without_fence(lines, line):
    fences = [at for at, each in enumerate(lines) if each.strip().startswith("```")]
    if not fences or len(fences) > 2 or line - 1 > fences[0]:
        return None
    first, end = fences[0], fences[1] if len(fences) == 2 else len(lines)
    language = lines[first].strip().strip("`").strip().lower()
    closed = end == len(lines) or not lines[end].strip().strip("`")
    before = "\n".join(lines[:first])
    if language not in PYTHON or not closed or '"""' in before or "'''" in before:
        return None
    kept = [each if first < at < end else "" for at, each in enumerate(lines)]
    return "\n".join(kept), first + 1, "The Markdown fence, and the text outside of it, were left out."


def without_command(lines, line, column):
    command = lines[line - 1].strip()
    indent = lines[line - 1][:len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    if column != len(indent) + 1 or not is_harmless(command.split()):
        return None
    lines[line - 1] = indent + "pass" if indent else ""
    return "\n".join(lines), line, f"The notebook command {command[:80]!r} was left out."


def is_harmless(words):
    """Does a notebook command only prepare what a cell has already, or cannot have?"""
    if not words:
        return False
    if words[0].startswith("!"):
        words = [words[0][1:], *words[1:]] if len(words[0]) > 1 else words[1:]
        through = len(words) > 2 and words[1:3] == ["-m", "pip"]
        return through or bool(words) and words[0] in INSTALLERS
    return words[0] in MAGICS or len(words) == 1 and words[0] in CELL_MAGICS


def with_plain_quotes(lines, line, column):
    """Replace the pair of typographic quotes that begins at this column, outside of any string."""
    text, start = lines[line - 1], column - 1
    if not 0 <= start < len(text) or text[start] not in DOUBLE + SINGLE:
        return None
    pair, plain = (DOUBLE, '"') if text[start] in DOUBLE else (SINGLE, "'")
    end = next((at for at in range(start + 1, len(text)) if text[at] in pair), None)
    if end is None or plain in text[start:end]:
        return None
    lines[line - 1] = text[:start] + plain + text[start + 1:end] + plain + text[end + 1:]
    return "\n".join(lines), line, "Typographic quotes were replaced by plain ones."


def without_unseen(lines, line, column):
    text = lines[line - 1]
    if not 1 <= column <= len(text) or text[column - 1] not in UNSEEN:
        return None
    lines[line - 1] = text[:column - 1] + " " + text[column:]
    return "\n".join(lines), line, "Characters that cannot be seen were replaced by blanks."
