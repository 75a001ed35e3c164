#include "cell/supervise/watch.h"

#include "base/fd.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/statvfs.h>

static int64_t status_field(const char *text, const char *key)
{
    return (int64_t)hc_status_field(text, key, 10, 0);
}

/* Whether the memory of a process or thread could be read. */
enum sight {
    SEEN,  /* its memory was read */
    NONE,  /* the process has no memory: it exits, or is dead */
    HIDDEN /* reading failed: its memory is unknown */
};

#define AT_MAX 32 /* bytes of "task/TID/" or "", with the NUL */

static enum sight sight_of_error(void)
{
    return errno == ENOENT || errno == ESRCH ? NONE : HIDDEN;
}

static enum sight read_status(int proc, const char *at, const char **text)
{
    char path[AT_MAX + 8];
    (void)snprintf(path, sizeof path, "%sstatus", at);
    *text = hc_status_read(proc, path);
    if (!*text)
        return sight_of_error();
    return strstr(*text, "\nRssAnon:") ? SEEN : NONE;
}

static DIR *open_tasks(int proc)
{
    hc_autofd fd = openat(proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
    if (tasks)
        (void)hc_take(&fd);
    return tasks;
}

/* Look for a thread whose status shows the process's memory. `newest` gets the highest thread ID seen. */
static enum sight ask_threads(int proc, char at[AT_MAX], const char **text, long *newest)
{
    DIR *tasks = open_tasks(proc);
    enum sight sight = tasks ? NONE : sight_of_error();
    for (struct dirent *e; tasks && sight == NONE && (e = readdir(tasks));) {
        long id = strtol(e->d_name, NULL, 10);
        if (id <= 0)
            continue;
        *newest = MAX(*newest, id);
        (void)snprintf(at, AT_MAX, "task/%ld/", id);
        sight = read_status(proc, at, text);
    }
    if (tasks)
        (void)closedir(tasks);
    return sight;
}

#define LOOKS 16 /* most readings of one process's list of threads */

/* Look for such a thread again while new threads appear: an exiting process makes none. A living process
 * whose threads each end before their status can be read counts as HIDDEN. */
static enum sight find_thread(int proc, char at[AT_MAX], const char **text)
{
    enum sight sight = NONE;
    for (long newest = 0, before = -1, looks = 0; sight == NONE; looks++) {
        if (newest == before)
            return NONE;
        if (looks == LOOKS)
            return HIDDEN;
        before = newest;
        sight = ask_threads(proc, at, text, &newest);
    }
    return sight;
}

/* Once the first thread of a process has ended, its own status shows no memory, but that of each living
 * thread does. `text` gets a status that shows it. */
static enum sight find_memory(int proc, char at[AT_MAX], const char **text, int64_t *threads)
{
    at[0] = '\0';
    enum sight sight = read_status(proc, at, text);
    *threads = *text ? status_field(*text, "Threads") : 0;
    return sight == NONE && *threads > 1 ? find_thread(proc, at, text) : sight;
}

/* Returns the number of the process's threads; 0: it has ended, or cannot be seen. */
static int64_t add_status(int proc, struct hc_held *held, struct hc_sample *s)
{
    const char *text;
    char at[AT_MAX];
    int64_t threads;
    enum sight sight = find_memory(proc, at, &text, &threads);
    s->tasks += threads;
    s->hidden |= sight == HIDDEN;
    if (sight != SEEN)
        return threads;
    s->memory += hc_status_memory(text);
    s->peak = MAX(s->peak, status_field(text, "VmHWM") * 1024);
    s->file_pages = MAX(s->file_pages, status_field(text, "RssFile") * 1024);
    if (held) {
        hc_held_add(held, proc, at, text);
        s->memory += held->growth_bytes;
    }
    return threads;
}

/* Fields 14 to 17 of stat: utime stime cutime cstime, in clock ticks. The name in field 2 may hold anything,
 * so counting begins behind its last parenthesis. */
static void add_cpu(int proc, struct hc_sample *s)
{
    char text[1024];
    if (hc_read_record(proc, "stat", text, sizeof text) < 0)
        return;
    char *p = strrchr(text, ')');
    if (!p)
        return;
    p++;
    for (int status_field = 3; status_field < 14 && *p; status_field++) {
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

/* Add the children that one thread has started: task/TID/children. False: there are more than `max`. */
static bool add_children_of(int dir, const char *name, pid_t *queue, size_t *count, size_t max)
{
    static char text[65536];
    if (hc_read_attr(dir, name, text, sizeof text) < 0)
        return true;
    bool all = strlen(text) + 2 < sizeof text;
    for (char *p = text, *end; all; p = end) {
        long child = strtol(p, &end, 10);
        if (end == p)
            break;
        if (*count == max)
            all = false;
        else
            queue[(*count)++] = (pid_t)child;
    }
    return all;
}

/* Add the children of all threads of a process. */
static bool add_children(int proc, pid_t *queue, size_t *count, size_t max)
{
    static _Alignas(struct dirent64) char entries[8192];
    hc_autofd tasks = openat(proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool all = true;
    for (ssize_t n; tasks >= 0 && (n = getdents64(tasks, entries, sizeof entries)) > 0;) {
        const struct dirent64 *e;
        for (const char *at = entries; at < entries + n; at += e->d_reclen) {
            e = (const void *)at;
            char name[sizeof e->d_name + sizeof "/children"];
            (void)snprintf(name, sizeof name, "%s/children", e->d_name);
            if (e->d_name[0] != '.')
                all &= add_children_of(tasks, name, queue, count, max);
        }
    }
    return all;
}

static int open_process(pid_t pid)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void hc_watch_sample(pid_t pid, struct hc_held *held, struct hc_sample *out)
{
    *out = (struct hc_sample){0};
    static pid_t queue[HC_WATCH_PROCESSES];
    size_t count = 1;
    queue[0] = pid;
    for (size_t i = 0; i < count; i++) {
        hc_autofd proc = open_process(queue[i]);
        if (proc < 0) {
            out->hidden |= sight_of_error() == HIDDEN;
            continue;
        }
        int64_t threads = add_status(proc, held, out);
        add_cpu(proc, out);
        char only[48];
        (void)snprintf(only, sizeof only, "task/%d/children", queue[i]);
        out->hidden |= threads == 1 ? !add_children_of(proc, only, queue, &count, HC_WATCH_PROCESSES)
                                    : !add_children(proc, queue, &count, HC_WATCH_PROCESSES);
    }
}

size_t hc_watch_below(pid_t pid, pid_t *out, size_t max)
{
    size_t count = 0;
    for (size_t at = 0; at <= count; at++) {
        hc_autofd proc = open_process(at ? out[at - 1] : pid);
        if (proc >= 0)
            (void)add_children(proc, out, &count, max);
    }
    return count;
}

/* Bytes of one process, with its share of shared pages; -1: unknown. */
static int64_t part_of(int proc)
{
    static char text[4096];
    char at[AT_MAX], path[AT_MAX + 16];
    const char *status;
    int64_t threads;
    enum sight sight = find_memory(proc, at, &status, &threads);
    if (sight != SEEN)
        return sight == NONE ? 0 : -1;
    (void)snprintf(path, sizeof path, "%ssmaps_rollup", at);
    if (hc_read_attr(proc, path, text, sizeof text) >= 0)
        return (status_field(text, "Pss_Anon") + status_field(text, "Pss_Shmem") +
                status_field(text, "SwapPss")) *
               1024;
    /* 0 if the process has just ended. On kernels without smaps_rollup the memory is unknown. */
    return sight_of_error() == NONE && access("/proc/self/smaps_rollup", R_OK) == 0 ? 0 : -1;
}

int64_t hc_watch_memory_below(pid_t pid)
{
    static pid_t below[HC_WATCH_PROCESSES];
    int64_t sum = 0;
    size_t count = hc_watch_below(pid, below, HC_WATCH_PROCESSES);
    for (size_t i = 0; i < count; i++) {
        hc_autofd proc = open_process(below[i]);
        int64_t part = proc < 0 ? 0 : part_of(proc);
        if (part < 0)
            return -1;
        sum += part;
    }
    return sum;
}

int64_t hc_watch_oom_kills(void)
{
    char text[16384];
    if (hc_read_attr(AT_FDCWD, "/proc/vmstat", text, sizeof text) < 0)
        return -1;
    const char *at = strstr(text, "\noom_kill ");
    return at ? strtoll(at + strlen("\noom_kill "), NULL, 10) : -1;
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
