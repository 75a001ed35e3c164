/* A fault for each page that a copy writes to for the first time is most of what a small job costs. Copies of
 * one process that do the same write to the same pages: a trial tells which, and the kernel, asked for all of
 * them at once, copies them without a fault for each. Nothing of what the trial did is in them. */
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

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22 /* since Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE    4096UL
#define MOST    2048 /* ranges */
#define AT_ONCE 512  /* pages looked at */
#define WRITE_IN                                                                                             \
    0              /* pages of no use in the middle of a range: each is copied, which is dearer than a call  \
                    */
#define READ_IN 15 /* these are only mapped */

/* Bits of /proc/PID/pagemap. */
#define PRESENT (1ULL << 63)
#define OF_FILE (1ULL << 61)
#define ALONE   (1ULL << 56)

struct range {
    uintptr_t from; /* whole pages; the lowest bit: they are only read */
    uintptr_t to;
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

/* ---- what the trial has ---- */

/* No range is of two mappings: the trial may have made one of them itself, or there is nothing between them,
 * and the kernel stops at the first page that is not there. Mappings come in the order of their addresses. */
static void add_page(uintptr_t mapping, uintptr_t page, bool only_read)
{
    struct range *last = range_count ? &ranges[range_count - 1] : NULL;
    const uintptr_t gap = (only_read ? READ_IN : WRITE_IN) * PAGE;
    if (last && last->to > mapping && page >= last->to && page - last->to <= gap)
        last->to = page + PAGE;
    else if (range_count < MOST)
        ranges[range_count++] = (struct range){page | only_read, page + PAGE};
}

static bool is_wanted(uint64_t entry, bool written)
{
    return written ? (entry & (PRESENT | OF_FILE | ALONE)) == (PRESENT | ALONE)
                   : (entry & (PRESENT | OF_FILE)) == (PRESENT | OF_FILE);
}

static void look_at(int pagemap, uintptr_t mapping, uintptr_t to, bool written)
{
    uint64_t entries[AT_ONCE];
    uintptr_t from = mapping;
    while (from < to) {
        size_t count = MIN(AT_ONCE, (to - from) / PAGE);
        ssize_t n = pread(pagemap, entries, count * sizeof *entries, (off_t)(from / PAGE * sizeof *entries));
        if (n < (ssize_t)sizeof *entries)
            return;
        for (size_t i = 0; i < (size_t)n / sizeof *entries; i++)
            if (is_wanted(entries[i], written))
                add_page(mapping, from + i * PAGE, !written);
        from += (size_t)n / sizeof *entries * PAGE;
    }
}

/* Of a mapping that copies do not share: written to, or of a file. */
static void look_at_mapping(int pagemap, const char *line)
{
    char *at = NULL;
    const uintptr_t from = strtoul(line, &at, 16), to = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    const char *rights = at + 1; /* "rw-p" */
    if (strnlen(at, 6) < 6 || rights[0] != 'r' || rights[3] != 'p')
        return;
    if (rights[1] == 'w' || strchr(line, '/'))
        look_at(pagemap, from, to, rights[1] == 'w');
}

void hc_prefault_tell(int pagemap, int out)
{
    char line[4096 + 128];
    FILE *maps = pagemap < 0 ? NULL : fopen("/proc/self/maps", "re");
    range_count = 0;
    while (maps && fgets(line, sizeof line, maps))
        look_at_mapping(pagemap, line);
    if (maps)
        (void)fclose(maps);
    (void)send(out, ranges, range_count * sizeof *ranges, MSG_NOSIGNAL);
}

/* ---- what its siblings have then ---- */

void hc_prefault_learn(int in)
{
    ssize_t n = recv(in, ranges, sizeof ranges, MSG_DONTWAIT);
    range_count = n > 0 ? (size_t)n / sizeof *ranges : 0;
}

void hc_prefault(void)
{
    for (const struct range *r = ranges; r < ranges + range_count; r++) {
        const uintptr_t from = r->from & ~1UL;
        (void)madvise((void *)from, r->to - from, r->from & 1 ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
    }
}
