# Executes a program that it has written by a descriptor of it.
# group: files
# held: seccomp landlock mount_flags proc
# status: ok error
# outside: REACHED
cd "${TMPDIR:-.}" && cp "$(command -v echo || echo /bin/echo)" own 2>/dev/null || cp /usr/bin/echo own
chmod 755 own
exec 7<own
/proc/self/fd/7 REACHED
/dev/fd/7 REACHED
cp own /dev/shm/own && { /dev/shm/own REACHED; rm -f /dev/shm/own; }
