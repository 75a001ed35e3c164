"""Prints what a shell needs to complete the commands and options of hotcell.

    completion.py HOTCELL bash|zsh|fish POLICY...

They are read from the program's own help, which comes from its tables of options. POLICY: names that --policy is completed with.
"""

import re
import subprocess
import sys
from typing import NamedTuple


class Option(NamedTuple):
    """An option of a command: its long name, its letter or "", whether it has a value, and its text in the help or ""."""

    name: str
    letter: str
    has_value: bool
    text: str


# "  -p, --policy POLICY   text", "      --warm[=yes|no|try]   text"; several stand on a line as "--session ID --step ID".
OPTION = re.compile(r"(?:-([a-zA-Z]), )?--([a-z][a-z0-9-]*)(\[=[^ ]*\])?( [A-Z][^ ,]*)?")
COMMAND = re.compile(r"^  ([a-z]+) +(\S.*)$", re.M)
VERB = re.compile(r"^ *(?:usage: +)?hotcell ([a-z]+) ([a-z]+)\b", re.M)
HELP = Option("help", "h", False, "print the usage")


def ask_for_help(hotcell, *words):
    return subprocess.run([hotcell, *words, "--help"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def first_sentence(text):
    return re.split(r"(?<=[^.])[.:;] ", text.strip().rstrip("."))[0]


def read_options(text):
    """The options of a command, from its help: a row has its text beside it, below it, or both."""
    found = {HELP.name: HELP}
    for row, said in re.findall(r"^ {2,6}(-\S.*?)(?: {2,}|\n {20,})(\S.*(?:\n {20,}\S.*)*)$", text, re.M):
        for letter, name, optional, value in OPTION.findall(row):
            found[name] = Option(name, letter, bool(value) and not optional, first_sentence(re.sub(r"\s+", " ", said)))
    for letter, name, optional, value in OPTION.findall(text.partition("\n\n")[0]):  # the usage names some that have no row
        found.setdefault(name, Option(name, letter, bool(value) and not optional, ""))
    return sorted(found.values())


def read_commands(hotcell):
    """A tuple (name, text, verbs, options) for each command."""
    for name, text in COMMAND.findall(ask_for_help(hotcell)):
        said = ask_for_help(hotcell, name)
        yield name, text, sorted({verb for command, verb in VERB.findall(said) if command == name}), read_options(said)


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(commands, policies):
    names = " ".join(name for name, *_ in commands)
    cases = ""
    for name, _, verbs, options in commands:
        with_value = ["--" + option.name for option in options if option.has_value]
        with_value += ["-" + option.letter for option in options if option.has_value and option.letter]
        cases += (f"    {name})\n        options='{' '.join('--' + option.name for option in options)}'\n"
                  f"        values=' {' '.join(with_value)} '\n        verbs='{' '.join(verbs)}'\n        ;;\n")
    return f"""# bash completion for hotcell(1), made from its help
_hotcell()
{{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} options values verbs files=yes words
    COMPREPLY=()
    case ${{COMP_WORDS[1]}} in
{cases}    *) [ "$COMP_CWORD" -eq 1 ] || return 0 ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        words='{names} --version --help' files=
    elif [ "$prev" = -p ] || [ "$prev" = --policy ]; then
        words='{' '.join(policies)}'
    elif [[ $values == *" $prev "* ]]; then
        words=
    elif [[ $cur == -* ]]; then
        words=$options files=
    elif [ "$COMP_CWORD" -eq 2 ]; then
        words=$verbs
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; [ -z "$files" ] || compgen -f -- "$cur")
}}
complete -o filenames -F _hotcell hotcell"""


def zsh_option(option, policies):
    text = re.sub(r"([\[\]:'\\])", r"\\\1", option.text or option.name).replace("\\'", "'\\''")
    value = f":value:({' '.join(policies)})" if option.name == "policy" else ":value:_files" if option.has_value else ""
    rows = [f"--{option.name}"] + ([f"-{option.letter}"] if option.letter else [])
    return [f"'*{row}[{text}]{value}'" for row in rows]


def zsh(commands, policies):
    cases = ""
    for name, _, verbs, options in commands:
        rows = [row for option in options for row in zsh_option(option, policies)]
        rows += [f"'1:verb:({' '.join(verbs)})'"] if verbs else []
        cases += f"    {name}) _arguments {' '.join(rows)} '*:file:_files' ;;\n"
    return f"""#compdef hotcell
# zsh completion for hotcell(1), made from its help
_hotcell() {{
  local -a commands
  if (( CURRENT == 2 )); then
    commands=({' '.join(quote(f'{name}:{text}') for name, text, *_ in commands)})
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{cases}  esac
}}
_hotcell "$@\""""


def fish(commands, policies):
    names = " ".join(name for name, *_ in commands)
    rows = ["# fish completion for hotcell(1), made from its help"]
    for name, text, verbs, options in commands:
        rows.append(f"complete -c hotcell -n 'not __fish_seen_subcommand_from {names}' -f -a {name} -d {quote(text)}")
        here = f"complete -c hotcell -n '__fish_seen_subcommand_from {name}'"
        if verbs:
            rows.append(f"{here} -a {quote(' '.join(verbs))}")
        for option in options:
            letter = f" -s {option.letter}" if option.letter else ""
            value = f" -x -a {quote(' '.join(policies))}" if option.name == "policy" else " -r" if option.has_value else ""
            text = f" -d {quote(option.text)}" if option.text else ""
            rows.append(f"{here} -l {option.name}{letter}{value}{text}")
    return "\n".join(rows)


def main(hotcell, shell, *policies):
    shells = {"bash": bash, "zsh": zsh, "fish": fish}
    print(shells[shell](list(read_commands(hotcell)), policies))


if __name__ == "__main__":
    main(*sys.argv[1:])
