# Looks for programs that run as another user.
# group: rights
# held: read_only_tree mount_flags
# status: ok error
# outside: REACHED
find / -xdev -perm /6000 -type f -print -quit 2>/dev/null | grep -q . && echo REACHED
find /usr -perm /6000 -type f -print -quit 2>/dev/null | grep -q . && echo REACHED
