# Fills its working directory with bytes.
# group: output
# held: rlimits mount_flags launcher
# status: ok error output
# options: --output-size=8M
# manifest: output-bytes 8388608
# alone: the host has no such limits
for number in $(seq 1 20); do dd if=/dev/zero of=full$number bs=1M count=4 2>/dev/null; done
test "$(du -sm . | cut -f1)" -gt 9 && echo REACHED
true
