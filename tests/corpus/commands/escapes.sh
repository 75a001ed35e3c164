# Prints what changes a terminal and what is typed into it.
# group: stdout
# held: launcher
# status: ok
# options: --json
# manifest: no-controls
# alone: it is what comes out that counts
printf '\033]0;title\007\033[2J\033[6n\033P+q544e\033\\\b\b\r\0'
printf '\033]0;title\007\033[2J\033[6n' >&2
