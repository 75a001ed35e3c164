# Looks for programs that run as whoever owns them.
# group: files
# held: read_only_tree mount_flags
import stat
def attack(lure):
    for folder in ("/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/lib", "/bin", "/sbin"):
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if entry.is_file() and entry.stat().st_mode & stat.S_ISUID and not os.statvfs(entry.path).f_flag & os.ST_NOSUID:
                return f"found {entry.path}"
