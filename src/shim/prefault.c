/* A fault for each page that a copy writes to for the first time is most of what a small job costs. Copies of
 * one process that do the same write to the same pages: a trial tells which, and the kernel, asked for all of
 * them at once, copies them without a fault for each. Nothing of what the trial did is in them.
 *
 * Pages of files, which are programs and libraries, are only read: a byte is enough for the kernel to map
 * what lies around it, while it would look for each page that it is asked for. */
#include "shim/prefault.h"

#include <fcntl.h>
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

#define PAGE    4096UL
#define MOST    2048      /* ranges */
#define AT_ONCE 512       /* pages looked at */
#define AROUND  0x10000UL /* what a fault maps of a file, at a multiple of that, if it is of one mapping */

/* Bits of /proc/PID/pagemap. */
#define PRESENT (1ULL << 63)
#define OF_FILE (1ULL << 61)
#define ALONE   (1ULL << 56)

struct range {
    uintptr_t from; /* whole pages; the lowest bit: a byte of the first is to be read, and no more */
    uintptr_t to;
};

struct mapping {
    uintptr_t from, to;
    bool readable, writable, copied, of_file; /* copied: what is written to it no other process sees */
};

static struct range ranges[MOST];
static size_t range_count;

int hc_prefault_open(void)
{
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) /* else this file would be root's */
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
    out->copied = at[4] == 'p';
    out->of_file = strchr(line, '/');
    return true;
}

static void close_mappings(FILE *maps)
{
    if (maps)
        (void)fclose(maps);
}

/* ---- what the trial has ---- */

/* No range is of two mappings: the trial may have made one of them itself, or there is nothing between them,
 * and the kernel stops at the first page that is not there. Mappings come in the order of their addresses. */
static void add_page(const struct mapping *m, uintptr_t page)
{
    struct range *last = range_count ? &ranges[range_count - 1] : NULL;
    if (last && last->from < m->from)
        last = NULL;
    if (last && m->writable && page == last->to)
        last->to = page + PAGE;
    else if ((!last || page >= last->to) && range_count < MOST)
        ranges[range_count++] = m->writable ? (struct range){page, page + PAGE}
                                            : (struct range){page | 1, (page | (AROUND - 1)) + 1};
}

static bool is_wanted(uint64_t entry, bool written)
{
    return written ? (entry & (PRESENT | OF_FILE | ALONE)) == (PRESENT | ALONE)
                   : (entry & (PRESENT | OF_FILE)) == (PRESENT | OF_FILE);
}

static void look_at(int pagemap, const struct mapping *m)
{
    uint64_t entries[AT_ONCE];
    for (uintptr_t from = m->from; from < m->to;) {
        size_t count = MIN(AT_ONCE, (m->to - from) / PAGE);
        ssize_t n = pread(pagemap, entries, count * sizeof *entries, (off_t)(from / PAGE * sizeof *entries));
        if (n < (ssize_t)sizeof *entries)
            return;
        for (size_t i = 0; i < (size_t)n / sizeof *entries; i++)
            if (is_wanted(entries[i], m->writable))
                add_page(m, from + i * PAGE);
        from += (size_t)n / sizeof *entries * PAGE;
    }
}

void hc_prefault_tell(int pagemap, int out)
{
    struct mapping m;
    FILE *maps = pagemap < 0 ? NULL : open_mappings();
    range_count = 0;
    while (next_mapping(maps, &m))
        if (m.readable && m.copied && (m.writable || m.of_file))
            look_at(pagemap, &m);
    close_mappings(maps);
    (void)send(out, ranges, range_count * sizeof *ranges, MSG_NOSIGNAL);
}

/* ---- what its siblings have then ---- */

/* The trial may have loaded libraries that nobody else has: to read there would be the end of each copy. Both
 * lists are in the order of addresses. */
static void forget_what_is_not_here(void)
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

void hc_prefault_learn(int in)
{
    ssize_t n = recv(in, ranges, sizeof ranges, MSG_DONTWAIT);
    range_count = n > 0 ? (size_t)n / sizeof *ranges : 0;
    forget_what_is_not_here();
}

void hc_prefault(void)
{
    for (const struct range *r = ranges; r < ranges + range_count; r++) {
        if (r->from & 1)
            (void)*(const volatile char *)(r->from - 1);
        else
            (void)madvise((void *)r->from, r->to - r->from, MADV_POPULATE_WRITE);
    }
}
