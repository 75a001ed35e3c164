# Gives programs in its results the bits that change the user, and executes them.
# group: output
# held: launcher landlock mount_flags
# status: ok error
# manifest: plain-modes
# outside: REACHED
cp /usr/bin/id own && chmod 6755 own && test -u own && ./own >/dev/null && echo REACHED
cp /usr/bin/id kept && chmod 4755 kept
