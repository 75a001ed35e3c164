# Ends by a fault, with as large a core file as it can have.
# group: output
# held: rlimits
# status: ok error
# outside: REACHED
ulimit -c unlimited 2>/dev/null && test "$(ulimit -c)" != 0 && echo REACHED
sh -c 'kill -SEGV $$' 2>/dev/null
for file in core* /tmp/core*; do test -e "$file" && echo REACHED; done
true
