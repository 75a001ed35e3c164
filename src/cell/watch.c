#include "cell/watch.h"

#include "base/fd.h"
#include "cell/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MAX_PROCESSES 4096

static int64_t field(const char *text, const char *key)
{
    return (int64_t)hc_status_field(text, key, 10, 0);
}

static void add_status(int proc, struct hc_sample *s)
{
    const char *text = hc_status_read(proc, "status");
    if (!text)
        return;
    s->memory += (field(text, "RssAnon") + field(text, "RssShmem") + field(text, "VmPTE")) * 1024;
    s->tasks += field(text, "Threads");
}

/* Fields 14 to 17 of stat: utime stime cutime cstime, in clock ticks. The name in field 2 may hold anything,
 * so counting begins behind its last parenthesis. */
static void add_cpu(int proc, struct hc_sample *s)
{
    char text[1024];
    if (hc_read_attr(proc, "stat", text, sizeof text) < 0)
        return;
    char *p = strrchr(text, ')');
    if (!p)
        return;
    p++;
    for (int field = 3; field < 14 && *p; field++) {
        p += strspn(p, " ");
        p += strcspn(p, " ");
    }
    int64_t ticks[4];
    for (int i = 0; i < 4; i++)
        ticks[i] = strtoll(p, &p, 10);
    int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    s->cpu_user_us += (ticks[0] + ticks[2]) * tick_us;
    s->cpu_system_us += (ticks[1] + ticks[3]) * tick_us;
}

/* Children belong to the thread that started them: task/TID/children. */
static size_t add_children(int proc, pid_t *queue, size_t count, size_t max)
{
    int fd = openat(proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
    if (!tasks) {
        hc_close_fd(&fd);
        return count;
    }
    static char text[65536];
    for (struct dirent *e; (e = readdir(tasks));) {
        char name[300];
        (void)snprintf(name, sizeof name, "%s/children", e->d_name);
        if (e->d_name[0] == '.' || hc_read_attr(dirfd(tasks), name, text, sizeof text) < 0)
            continue;
        for (char *p = text, *end; count < max; p = end) {
            long child = strtol(p, &end, 10);
            if (end == p)
                break;
            queue[count++] = (pid_t)child;
        }
    }
    (void)closedir(tasks);
    return count;
}

void hc_watch_sample(pid_t pid, struct hc_sample *out)
{
    *out = (struct hc_sample){0};
    static pid_t queue[MAX_PROCESSES];
    size_t count = 1;
    queue[0] = pid;
    for (size_t i = 0; i < count; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/proc/%d", queue[i]);
        hc_autofd proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc < 0)
            continue;
        add_status(proc, out);
        add_cpu(proc, out);
        count = add_children(proc, queue, count, MAX_PROCESSES);
    }
}

size_t hc_watch_below(pid_t pid, pid_t *out, size_t max)
{
    size_t count = 0;
    for (size_t at = 0; at <= count; at++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/proc/%d", at ? out[at - 1] : pid);
        hc_autofd proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc >= 0)
            count = add_children(proc, out, count, max);
    }
    return count;
}

int64_t hc_watch_memory_below(pid_t pid)
{
    static pid_t below[MAX_PROCESSES];
    static char text[4096];
    int64_t sum = 0;
    size_t count = hc_watch_below(pid, below, MAX_PROCESSES);
    for (size_t i = 0; i < count; i++) {
        char path[48];
        (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", below[i]);
        if (hc_read_attr(AT_FDCWD, path, text, sizeof text) >= 0)
            sum += (field(text, "Pss_Anon") + field(text, "Pss_Shmem")) * 1024;
        else if ((errno != ENOENT && errno != ESRCH) || access("/proc/self/smaps_rollup", R_OK) < 0)
            return -1; /* it has not just ended */
    }
    return sum;
}

int64_t hc_watch_fs_bytes(int dir_fd)
{
    struct statvfs fs;
    return fstatvfs(dir_fd, &fs) == 0 ? (int64_t)((fs.f_blocks - fs.f_bfree) * fs.f_frsize) : 0;
}

int64_t hc_watch_fs_files(int dir_fd)
{
    struct statvfs fs;
    return fstatvfs(dir_fd, &fs) == 0 && fs.f_files ? (int64_t)(fs.f_files - fs.f_ffree) : 0;
}
