#include "cell/supervise/held.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/status.h"
#include "inside/weak.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

/* Kernel memory in bytes that objects of a cell hold, measured with Linux 6.18. Only objects beyond the FREE_
 * numbers are charged, so that an ordinary program is charged for its own pages only. */
#define PIPE_BYTES    (INT64_C(64) << 10) /* largest buffer of a pipe without privileges */
#define WAIT_BYTES    256                 /* one descriptor in an epoll set */
#define MAPPING_BYTES 400 /* one mapping with its name and its entries in the anon_vma lists */
#define THREAD_BYTES  (INT64_C(32) << 10) /* the kernel stack of one thread, and what describes it */
#define NAME_BYTES    2048                /* one name in a tmpfs, the longest, with the target of a link */
#define FREE_FILES    64                  /* open files of a process: the smallest table that it has */
#define FREE_MAPPINGS 4096                /* mappings of a process */
#define FREE_SOCKETS  8                   /* sockets of a cell */
#define FREE_THREADS  64                  /* threads of a cell */
#define FREE_NAMES    4096                /* names of a cell */
#define FREE_UNREAD   256                 /* files at position 0, any of which may be a named pipe */

static int64_t beyond(int64_t count, int64_t free, int64_t each)
{
    return MAX(count - free, 0) * each;
}

int64_t hc_held_threads(int64_t count)
{
    return beyond(count, FREE_THREADS, THREAD_BYTES);
}

int64_t hc_held_names(int64_t files)
{
    return beyond(files, FREE_NAMES, NAME_BYTES);
}

/* ---- sockets ---- */

/* The most that a socket's buffers hold. A sender may begin a last message while its buffer is not quite
 * full, and that message is at most as long as the buffer. */
static int64_t socket_bytes(void)
{
    static int64_t bytes;
    int size = 0;
    socklen_t len = sizeof size;
    hc_autofd fd = bytes ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &len) == 0 && size > 0)
        bytes = 2 * (int64_t)size + 4096;
    return bytes ? bytes : INT64_C(512) << 10;
}

/* Bytes queued in a connection: the fifth field of a line of /proc/net/tcp has bytes to be sent, a colon,
 * and bytes received. */
static int64_t queued(const char *line)
{
    for (int field = 0; field < 4; field++) {
        line += strspn(line, " ");
        line += strcspn(line, " ");
    }
    char *rest;
    int64_t sent = strtoll(line, &rest, 16);
    return *rest == ':' ? sent + strtoll(rest + 1, NULL, 16) : 0;
}

static int64_t queued_in(pid_t pid, const char *table)
{
    char path[48], line[512];
    int64_t sum = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/net/%s", pid, table);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        sum += queued(line);
    if (file)
        (void)fclose(file);
    return sum;
}

#define LISTED_PAGES 512 /* change of the host's TCP pages from which on connections are listed again */

/* Listing connections takes the kernel milliseconds, so list them only if the number of pages in all of
 * the host's TCP buffers has changed. */
static void update_connections(struct hc_held *h, pid_t pid, const char *sockstat)
{
    const char *tcp = strstr(sockstat, "\nTCP:"), *mem = tcp ? strstr(tcp, " mem ") : NULL;
    int64_t pages = mem ? strtoll(mem + strlen(" mem "), NULL, 10) : 0;
    if (llabs(pages - h->tcp_pages) < LISTED_PAGES)
        return;
    h->tcp_pages = pages;
    h->tcp_bytes = 2 * (queued_in(pid, "tcp") + queued_in(pid, "tcp6"));
}

int64_t hc_held_sockets(struct hc_held *h, pid_t pid, bool connections)
{
    char path[48], text[1024];
    if (hc_weak(HC_WEAK_NETWORK_NAMESPACE)) /* else all of the host's sockets would count as the cell's */
        return 0;
    (void)snprintf(path, sizeof path, "/proc/%d/net/sockstat", pid);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return errno == ENOENT || errno == ESRCH || errno == EINVAL ? 0 : -1;
    const char *used = strstr(text, "sockets: used ");
    int64_t count = used ? strtoll(used + strlen("sockets: used "), NULL, 10) : 0;
    if (connections)
        update_connections(h, pid, text);
    return beyond(count, FREE_SOCKETS, socket_bytes()) + h->tcp_bytes;
}

/* ---- a process that runs while it is examined ---- */

#define FILES_PER_CHECK                                                                                      \
    256 /* open files between checks of a process's growth; each takes some microseconds */

/* Whether the process has grown beyond the limit while it was examined, during which its pages are not
 * sampled. `before`: bytes of its pages at the start. */
static bool has_outgrown_limit(struct hc_held *h, int proc, const char *at, int64_t before)
{
    char path[48];
    (void)snprintf(path, sizeof path, "%sstatus", at);
    const char *text = hc_status_read(proc, path);
    int64_t now = text ? hc_status_memory(text) : 0;
    h->growth_bytes = MAX(now - before, 0);
    return now > h->limit;
}

/* ---- pipes and epoll entries ---- */

/* Most pipes of a cell whose inodes are noted; a further pipe is charged for each of its descriptors. */
#define MOST_PIPES 16384
static uint64_t pipes[MOST_PIPES];

/* ID of the kernel's own mount that all pipes are in; -1: unknown. */
static int64_t find_pipe_mount(void)
{
    char path[48], text[256];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", ends[0]);
    int rc = hc_read_attr(AT_FDCWD, path, text, sizeof text);
    hc_close_fd(&ends[0]);
    hc_close_fd(&ends[1]);
    return rc < 0 ? -1 : (int64_t)hc_status_field(text, "mnt_id", 10, (uint64_t)-1);
}

static void add_pipe(struct hc_held *h, uint64_t inode)
{
    if (inode && h->pipes < MOST_PIPES)
        pipes[h->pipes++] = inode;
    else
        h->other_bytes += PIPE_BYTES;
}

/* Classify a descriptor from its fdinfo, which is readable without the right to open the file. A named
 * pipe looks there like any file at position 0. */
static void add_file(struct hc_held *h, int dir, const char *name, int64_t pipe_mount)
{
    char text[512]; /* fdinfo; that of an epoll has a line for each of its descriptors, and is cut */
    if (hc_read_attr(dir, name, text, sizeof text) < 0)
        return;
    if ((int64_t)hc_status_field(text, "mnt_id", 10, 0) == pipe_mount)
        add_pipe(h, hc_status_field(text, "ino", 10, 0));
    else if (strstr(text, "\ntfd:") && strlen(text) < sizeof text - 2)
        h->epolls_read++;
    else if (strstr(text, "\ntfd:"))
        h->epolls_crowded++;
    else if (strncmp(text, "pos:\t0\n", 7) == 0)
        h->unread++;
}

/* Charge the memory behind a process's descriptors; if they cannot be listed, the most that they can hold. */
static void add_files(struct hc_held *h, int proc, const char *at, int64_t most, int64_t before)
{
    static int64_t pipe_mount = -1;
    char path[48];
    if (pipe_mount < 0)
        pipe_mount = find_pipe_mount();
    (void)snprintf(path, sizeof path, "%sfdinfo", at);
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        h->other_bytes += errno == ENOENT || errno == ESRCH ? 0 : most * PIPE_BYTES;
        hc_close_fd(&fd);
        return;
    }
    int64_t waits = h->epolls_read, crowds = h->epolls_crowded, count = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] != '.')
            add_file(h, dirfd(dir), e->d_name, pipe_mount);
        if (++count % FILES_PER_CHECK == 0 && has_outgrown_limit(h, proc, at, before))
            break;
    }
    h->other_bytes += (h->epolls_read - waits) * most * WAIT_BYTES;
    /* An epoll has one entry per file and descriptor number: a process that moves few files from number to
     * number can make many entries. */
    h->other_bytes += (h->epolls_crowded - crowds) * most * most * WAIT_BYTES;
    (void)closedir(dir);
}

/* ---- mappings ---- */

static int64_t count_lines(struct hc_held *h, int proc, const char *at, int64_t before)
{
    static char text[65536];
    char path[48];
    int64_t lines = 0;
    (void)snprintf(path, sizeof path, "%smaps", at);
    hc_autofd fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text)) > 0;) {
        for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + n - p))); p++)
            lines++;
        if (lines > FREE_MAPPINGS && has_outgrown_limit(h, proc, at, before))
            break;
    }
    return lines;
}

/* ---- one look at a cell ---- */

#define FIRST_US        100000 /* us to the first look: most jobs end before */
#define IDLE_PAUSE      100    /* pause, in durations of the last look, while the estimate is steady */
#define HOST_LOSS_PAUSE 3      /* the same while only the host's free memory shrinks */
#define LONGEST_US      200000 /* most us between looks: pipes and sockets can be filled within seconds */
#define STEP            (INT64_C(12) << 20) /* loss of the host's free memory in bytes that starts a look */

/* Memory of the whole host that is neither free nor a cache of files; only changes of it are used. A look
 * can take so long that a program fills thousands of pipes before the next; reading this takes
 * microseconds. */
static int64_t host_memory_in_use(void)
{
    char text[2048];
    if (hc_read_attr(AT_FDCWD, "/proc/meminfo", text, sizeof text) < 0)
        return 0;
    return 1024 * ((int64_t)hc_status_field(text, "Shmem", 10, 0) -
                   (int64_t)hc_status_field(text, "MemFree", 10, 0) -
                   (int64_t)hc_status_field(text, "Buffers", 10, 0) -
                   (int64_t)hc_status_field(text, "Cached", 10, 0));
}

bool hc_held_due(struct hc_held *h)
{
    int64_t now_us = hc_now_us(), taken;
    if (!h->due_us) {
        h->due_us = now_us + FIRST_US;
        h->host_loss_due_us = now_us;
        h->host_bytes = host_memory_in_use();
    }
    if (now_us >= h->due_us || now_us < h->host_loss_due_us)
        return now_us >= h->due_us;
    taken = host_memory_in_use();
    h->host_bytes = MIN(h->host_bytes, taken);
    return taken - h->host_bytes > STEP;
}

void hc_held_begin(struct hc_held *h, int64_t limit)
{
    h->limit = limit;
    h->begun_us = hc_now_us();
    h->host_bytes = host_memory_in_use(); /* memory taken during this look counts for the next */
    h->mappings = h->epolls_read = h->epolls_crowded = h->pipes = h->unread = h->other_bytes = 0;
}

void hc_held_add(struct hc_held *h, int proc, const char *at, const char *status)
{
    int64_t files = (int64_t)hc_status_field(status, "FDSize", 10, 0), pages = hc_status_memory(status);
    h->growth_bytes = 0;
    h->mappings += count_lines(h, proc, at, pages);
    if (files > FREE_FILES)
        add_files(h, proc, at, files, pages);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Count different pipes: each has two ends, which several processes may hold. */
static int64_t count_pipes(int64_t count)
{
    int64_t different = 0;
    qsort(pipes, (size_t)count, sizeof *pipes, by_number);
    for (int64_t i = 0; i < count; i++)
        different += i == 0 || pipes[i] != pipes[i - 1];
    return different;
}

void hc_held_end(struct hc_held *h)
{
    int64_t now_us = hc_now_us(), took_us = now_us - h->begun_us;
    int64_t bytes = beyond(h->mappings, FREE_MAPPINGS, MAPPING_BYTES) + count_pipes(h->pipes) * PIPE_BYTES +
                    beyond(h->unread, FREE_UNREAD, PIPE_BYTES) + h->other_bytes;
    bool grows = bytes > h->bytes + MIN(h->bytes / 4, STEP);
    int64_t host_loss_pause_us = took_us * HOST_LOSS_PAUSE,
            idle_us = MIN(MAX(took_us * IDLE_PAUSE, FIRST_US), LONGEST_US);
    h->due_us = now_us + (grows ? took_us : MAX(idle_us, host_loss_pause_us));
    h->host_loss_due_us = now_us + (grows ? took_us : host_loss_pause_us);
    h->bytes = bytes;
}
