# Makes and enters namespaces, mounts, and changes its root, by programs and by system calls.
# group: namespaces
# held: seccomp
# status: ok error
# outside: REACHED
python3 -c '
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
# With arguments that cannot change anything: what is let through succeeds, or fails by the number of its descriptor.
if libc.unshare(0) == 0:
    print("REACHED unshare")
if libc.setns(-1, 0) and ctypes.get_errno() == errno.EBADF:
    print("REACHED setns")
'
for tool in unshare nsenter mount umount chroot setpriv capsh su sudo; do
    command -v "$tool" >/dev/null && echo "REACHED $tool"
done
