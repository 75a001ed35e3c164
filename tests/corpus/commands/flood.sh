# Prints without end, also from processes that it leaves.
# group: stdout
# held: launcher
# status: ok error output timeout
# options: --timeout=2 --grace=0
# manifest: truncated stdout
# alone: there is no end to it
yes & yes >&2 & yes
