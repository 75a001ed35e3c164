#include "shim/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* These names are those of the C library, which declares them. They take the place of its own because the
 * executable comes first when names are looked up, and exports them (-rdynamic). */

/* ---- record locks ---- */

/* Cells share the files of the tree, inputs and /dev/null, and would see each other's locks on them. Where a
 * cell has but one process the filter says ENOLCK, and the answer is the one that this process would always
 * get: record locks are between processes. SQLite, for one, wants no more than an answer. */

static off_t base_of(int fd, const struct flock *lock)
{
    struct stat st;
    switch (lock->l_whence) {
    case SEEK_SET:
        return 0;
    case SEEK_CUR:
        return lseek(fd, 0, SEEK_CUR);
    case SEEK_END:
        return fstat(fd, &st) < 0 ? -1 : st.st_size;
    default:
        errno = EINVAL;
        return -1;
    }
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* As fcntl(2) says that they are checked. */
static int lock_alone(int fd, int command, struct flock *lock)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -1;
    bool asks = command == F_GETLK;
    if (lock->l_type != F_RDLCK && lock->l_type != F_WRLCK && (asks || lock->l_type != F_UNLCK))
        return refuse(EINVAL);
    int mode = flags & O_ACCMODE;
    if ((flags & O_PATH) || (!asks && lock->l_type == F_RDLCK && mode == O_WRONLY) ||
        (!asks && lock->l_type == F_WRLCK && mode == O_RDONLY))
        return refuse(EBADF);
    off_t start = base_of(fd, lock), length = lock->l_len;
    if (start < 0)
        return -1;
    if (__builtin_add_overflow(start, lock->l_start, &start))
        return refuse(EOVERFLOW);
    if (start < 0 || (length < 0 && start + length < 0))
        return refuse(EINVAL);
    if (asks)
        lock->l_type = F_UNLCK;
    errno = 0;
    return 0;
}

static int control(int fd, int command, void *argument)
{
    int before = errno;
    int rc = (int)syscall(SYS_fcntl, fd, command, argument);
    bool refused = rc < 0 && (errno == ENOLCK || errno == ENOSYS); /* the latter by the first filter */
    if (!refused || (command != F_GETLK && command != F_SETLK && command != F_SETLKW))
        return rc;
    rc = lock_alone(fd, command, argument);
    if (rc == 0)
        errno = before;
    return rc;
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return control(fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return control(fd, command, argument);
}

int lockf(int fd, int command, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    switch (command) {
    case F_TEST:
        if (control(fd, F_GETLK, &lock) < 0)
            return -1;
        return lock.l_type == F_UNLCK || lock.l_pid == getpid() ? 0 : refuse(EACCES);
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return control(fd, F_SETLK, &lock);
    case F_LOCK:
        return control(fd, F_SETLKW, &lock);
    case F_TLOCK:
        return control(fd, F_SETLK, &lock);
    default:
        return refuse(EINVAL);
    }
}

int lockf64(int fd, int command, off64_t length)
{
    return lockf(fd, command, length);
}

/* ---- what the machine is doing ---- */

static int64_t memory = INT64_C(1) << 30, output_size, tmp_size;

void hc_libc_sizes(int64_t memory_bytes, int64_t output, int64_t tmp)
{
    memory = memory_bytes;
    output_size = output;
    tmp_size = tmp;
}

int sysinfo(struct sysinfo *info)
{
    struct timespec up = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    *info = (struct sysinfo){.uptime = up.tv_sec,
                             .totalram = (unsigned long)memory,
                             .freeram = (unsigned long)memory,
                             .procs = 1,
                             .mem_unit = 1};
    return 0;
}

long sysconf(int name)
{
    static long (*real)(int);
    if (!real)
        real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES)
        return memory / real(_SC_PAGESIZE);
    return real(name);
}

#define TICKS 100 /* a second, as sysconf(_SC_CLK_TCK) has it on every architecture of ours */

static clock_t ticks(const struct timeval *t)
{
    return t->tv_sec * TICKS + t->tv_usec / (1000000 / TICKS);
}

/* What times(2) returns is the host's uptime: no time namespace changes it. */
clock_t times(struct tms *out)
{
    struct rusage own, children;
    struct timespec up;
    if (getrusage(RUSAGE_SELF, &own) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0 ||
        clock_gettime(CLOCK_BOOTTIME, &up) < 0)
        return -1;
    if (out)
        *out = (struct tms){.tms_utime = ticks(&own.ru_utime),
                            .tms_stime = ticks(&own.ru_stime),
                            .tms_cutime = ticks(&children.ru_utime),
                            .tms_cstime = ticks(&children.ru_stime)};
    return up.tv_sec * TICKS + up.tv_nsec / (1000000000 / TICKS);
}

/* ---- room ---- */

/* The kernel would tell of the tree's file system too, which is the host's disk. /output and /tmp are counted
 * here, which they are small enough for. */

#define BLOCK 4096

static _Thread_local int64_t counted;

static int count(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)path;
    (void)kind;
    (void)at;
    counted += st->st_blocks * 512;
    return 0;
}

static int answer(const char *root, int64_t size, dev_t dev, struct statvfs *out)
{
    struct stat st;
    if (!size || stat(root, &st) < 0 || st.st_dev != dev)
        return -1;
    counted = 0;
    if (nftw(root, count, 16, FTW_PHYS | FTW_MOUNT) != 0)
        return -1;
    fsblkcnt_t all = (fsblkcnt_t)size / BLOCK, used = (fsblkcnt_t)counted / BLOCK;
    fsblkcnt_t left = used < all ? all - used : 0;
    *out = (struct statvfs){.f_bsize = BLOCK,
                            .f_frsize = BLOCK,
                            .f_blocks = all,
                            .f_bfree = left,
                            .f_bavail = left,
                            .f_flag = ST_NOSUID | ST_NODEV | ST_NOEXEC,
                            .f_namemax = 255};
    return 0;
}

static int room(int looked, const struct stat *st, struct statvfs *out)
{
    if (looked < 0 || answer("/output", output_size, st->st_dev, out) == 0 ||
        answer("/tmp", tmp_size, st->st_dev, out) == 0)
        return looked;
    return refuse(EPERM);
}

int statvfs(const char *path, struct statvfs *out)
{
    static int (*real)(const char *, struct statvfs *);
    struct stat st;
    if (!real)
        real = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    int rc = real(path, out);
    return rc < 0 && errno == EPERM ? room(stat(path, &st), &st, out) : rc;
}

int fstatvfs(int fd, struct statvfs *out)
{
    static int (*real)(int, struct statvfs *);
    struct stat st;
    if (!real)
        real = (int (*)(int, struct statvfs *))dlsym(RTLD_NEXT, "fstatvfs");
    int rc = real(fd, out);
    return rc < 0 && errno == EPERM ? room(fstat(fd, &st), &st, out) : rc;
}

int statvfs64(const char *path, struct statvfs64 *out)
{
    return statvfs(path, (struct statvfs *)(void *)out); /* the same, where off_t has 64 bits */
}

int fstatvfs64(int fd, struct statvfs64 *out)
{
    return fstatvfs(fd, (struct statvfs *)(void *)out);
}
