# Fills its working directory with names.
# group: output
# held: mount_flags launcher
# status: ok error output
# options: --output-files=100
# manifest: at-most 100
# alone: the host has no such limits
seq 1 5000 | sed s/^/n/ | xargs touch 2>/dev/null
test "$(ls | wc -l)" -gt 200 && echo REACHED
true
