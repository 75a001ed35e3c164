/* Most of a small job's time goes into page faults: one for each page that a copy of the zygote writes to for
 * the first time. Copies that do the same work write to the same pages. A trial job tells which pages these
 * are, and each later copy asks the kernel for all of them at once, without a fault for each. The pages are
 * copied from the zygote, and so have nothing of the trial's data.
 *
 * Pages of files (programs and libraries) are only read. Reading one byte has the kernel map the pages around
 * it, whereas MADV_POPULATE would look for each page. */
#include "shim/prefault.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

#define PAGE            4096UL      /* bytes of a page */
#define MAX_RANGES      2048        /* most ranges in the list */
#define PAGEMAP_ENTRIES 512         /* entries of the pagemap read at a time */
#define MOST_AT_ONCE    (64 * PAGE) /* bytes to copy before the next look whether the job is there */
#define FAULT_AROUND                                                                                         \
    0x10000UL /* bytes, aligned, of one mapping of a file that the kernel maps at a fault                    \
               */

/* Bits of /proc/PID/pagemap. */
#define PRESENT   (1ULL << 63) /* the page is in memory */
#define OF_FILE   (1ULL << 61) /* it is a page of a file, or shared */
#define EXCLUSIVE (1ULL << 56) /* no other process maps the page */

/* Pages that a copy will write to or read. */
struct range {
    uintptr_t from; /* address of the first page; lowest bit set: only one byte is to be read there */
    uintptr_t to;   /* address of the end */
};

/* A line of /proc/self/maps. */
struct mapping {
    uintptr_t from, to;                        /* addresses of its start and end */
    bool readable, writable, private, of_file; /* private: no other process sees what is written to it */
};

static struct range ranges[MAX_RANGES]; /* ranges of memory to touch, in the order of their addresses */
static size_t range_count;              /* used entries of `ranges` */

int hc_prefault_open(void)
{
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) /* the pagemap of an undumpable process belongs to root */
        return -1;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        _exit(1);
    return fd;
}

/* ---- mappings ---- */

static FILE *open_mappings(void)
{
    return fopen("/proc/self/maps", "re");
}

static bool next_mapping(FILE *maps, struct mapping *out)
{
    char line[4096 + 128], *at = NULL;
    if (!maps || !fgets(line, sizeof line, maps))
        return false;
    out->from = strtoul(line, &at, 16);
    out->to = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    if (strnlen(at, 6) < 6) /* " rw-p " */
        return false;
    out->readable = at[1] == 'r';
    out->writable = at[2] == 'w';
    out->private = at[4] == 'p';
    out->of_file = strchr(line, '/');
    return true;
}

static void close_mappings(FILE *maps)
{
    if (maps)
        (void)fclose(maps);
}

/* ---- in the trial: the list of its pages ---- */

/* Adds a page to the list. A range never spans two mappings: the trial may have made one of them itself, or
 * there may be a gap between them, and the kernel stops at the first page that is not mapped. */
static void add_page(const struct mapping *m, uintptr_t page)
{
    struct range *last = range_count ? &ranges[range_count - 1] : NULL;
    if (last && last->from < m->from)
        last = NULL;
    if (last && m->writable && page == last->to)
        last->to = page + PAGE;
    else if ((!last || page >= last->to) && range_count < MAX_RANGES)
        ranges[range_count++] = m->writable ? (struct range){page, page + PAGE}
                                            : (struct range){page | 1, (page | (FAULT_AROUND - 1)) + 1};
}

static bool is_page_needed(uint64_t entry, bool written)
{
    return written ? (entry & (PRESENT | OF_FILE | EXCLUSIVE)) == (PRESENT | EXCLUSIVE)
                   : (entry & (PRESENT | OF_FILE)) == (PRESENT | OF_FILE);
}

static void add_pages(int pagemap, const struct mapping *m)
{
    uint64_t entries[PAGEMAP_ENTRIES];
    for (uintptr_t from = m->from; from < m->to;) {
        size_t count = MIN(PAGEMAP_ENTRIES, (m->to - from) / PAGE);
        ssize_t n = pread(pagemap, entries, count * sizeof *entries, (off_t)(from / PAGE * sizeof *entries));
        if (n < (ssize_t)sizeof *entries)
            return;
        for (size_t i = 0; i < (size_t)n / sizeof *entries; i++)
            if (is_page_needed(entries[i], m->writable))
                add_page(m, from + i * PAGE);
        from += (size_t)n / sizeof *entries * PAGE;
    }
}

void hc_prefault_send(int pagemap, int out)
{
    struct mapping m;
    FILE *maps = pagemap < 0 ? NULL : open_mappings();
    range_count = 0;
    while (next_mapping(maps, &m))
        if (m.readable && m.private && (m.writable || m.of_file))
            add_pages(pagemap, &m);
    close_mappings(maps);
    (void)send(out, ranges, range_count * sizeof *ranges, MSG_NOSIGNAL);
}

/* ---- in the zygote and its copies ---- */

/* Drops ranges that this process has not mapped: the trial may have loaded more libraries, and a copy that
 * read at their addresses would crash. Ranges and mappings are both in the order of addresses. */
static void drop_unmapped_ranges(void)
{
    size_t count = 0, i = 0;
    struct mapping m;
    FILE *maps = open_mappings();
    while (next_mapping(maps, &m))
        for (; i < range_count && ranges[i].from < m.to; i++)
            if (ranges[i].from >= m.from && m.readable)
                ranges[count++] = ranges[i];
    close_mappings(maps);
    range_count = count;
}

void hc_prefault_receive(int in)
{
    ssize_t n = recv(in, ranges, sizeof ranges, MSG_DONTWAIT);
    range_count = n > 0 ? (size_t)n / sizeof *ranges : 0;
    drop_unmapped_ranges();
}

/* Has `fd` something to read, or is its other end gone? */
static bool is_readable(int fd)
{
    struct pollfd on = {.fd = fd, .events = POLLIN};
    return poll(&on, 1, 0) != 0;
}

/* Makes copies of at most MOST_AT_ONCE bytes from `from` on, or reads the range's one byte. Returns the
 * address of the end of what it did. */
static uintptr_t touch(uintptr_t from, const struct range *r)
{
    if (r->from & 1) {
        (void)*(const volatile char *)(r->from - 1);
        return r->to;
    }
    size_t bytes = MIN(r->to - from, MOST_AT_ONCE);
    (void)madvise((void *)from, bytes, MADV_POPULATE_WRITE);
    return from + bytes;
}

void hc_prefault_until(int fd)
{
    size_t done = 0; /* bytes since the last look at `fd` */
    for (const struct range *r = ranges; r < ranges + range_count; r++)
        for (uintptr_t from = r->from, to; from < r->to; from = to) {
            to = touch(from, r);
            done += r->from & 1 ? PAGE : to - from;
            if (done >= MOST_AT_ONCE && is_readable(fd))
                return;
            done %= MOST_AT_ONCE;
        }
}
