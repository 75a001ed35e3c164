/* A copy pays for each page table entry that it takes over, and for each page that it writes to: for the
 * first one by one if memory is in small pages, and for the second once for each place at which an allocator
 * has something free. */
#include "shim/settle.h"

#include "shim/harness/py.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif
#define HUGE_PAGE 0x200000UL

/* ---- libc's allocator ---- */

#define LARGEST ((size_t)64 << 10) /* of larger pieces there are few, and each lies in one place */
#define STEP    16                 /* sizes of chunks are multiples of it */

/* Where the memory begins that has never been asked for. Everything below is chunks, used and free. */
static uintptr_t top_of_heap(void)
{
    return (uintptr_t)sbrk(0) - mallinfo2().keepcost;
}

/* Take all that is free and of this size, for good: pages of it are the zygote's, and no copy writes to them.
 */
static void take_all(size_t size)
{
    const uintptr_t top = top_of_heap();
    for (;;) {
        void *p = malloc(size);
        if (p && (uintptr_t)p < top)
            continue;
        free(p);
        return;
    }
}

/* An allocation of a copy would come from any of thousands of pieces that lie about, and write to the
 * neighbours of the piece in the lists that it is in; now they all come from the end of the heap. */
static void spend_free_chunks(void)
{
    for (size_t size = LARGEST; size > 1024; size -= size / 8 / STEP * STEP)
        take_all(size);
    for (size_t size = 1024; size >= STEP; size -= STEP)
        take_all(size - sizeof(size_t)); /* all of a chunk but its head */
}

/* ---- Python's allocator ---- */

#define SMALLEST    16
#define LARGEST_OBJ 512
#define POOL        16384 /* of objects of one size; CPython's POOL_SIZE */
#define IN_A_ROW    8     /* that follow each other: from a pool that is new */

/* As above: pools that have something free are filled. */
static void fill_pools(size_t size)
{
    char *last[IN_A_ROW] = {0};
    size_t row = 0;
    for (size_t most = 1 << 16; most; most--) {
        char *p = PyObject_Malloc(size);
        if (!p)
            break;
        row = row && p == last[row - 1] + size ? row : 0;
        last[row++] = p;
        if (row == IN_A_ROW && ((uintptr_t)last[0] & (POOL - 1)) < 64)
            break;
        row %= IN_A_ROW;
    }
    while (row)
        PyObject_Free(last[--row]);
}

/* ---- where Python's allocator has its memory from ---- */

#define ARENA 0x100000UL /* CPython's ARENA_SIZE */
#define MOST  1024       /* arenas: address space, not memory */

/* Mappings of its own would lie wherever there is room between those of libraries, none of them large enough
 * for a huge page. */
static struct {
    char *start; /* NULL: there is none */
    size_t used; /* of these, from the start on, some may be free again: */
    unsigned short free[MOST];
    size_t free_count;
} region;

/* NULL: there is no room. */
static void *map(size_t size, int rights, int flags)
{
    // -1 is what mmap(2) asks for here.
    // cppcheck-suppress invalidFunctionArg
    void *p = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *take_arena(void *ctx, size_t size)
{
    (void)ctx;
    if (size == ARENA && region.start && (region.free_count || region.used < MOST)) {
        size_t at = region.free_count ? region.free[region.free_count - 1] : region.used;
        char *p = region.start + at * ARENA;
        if (mprotect(p, ARENA, PROT_READ | PROT_WRITE) == 0) {
            *(region.free_count ? &region.free_count : &region.used) += region.free_count ? (size_t)-1 : 1;
            return p;
        }
    }
    return map(size, PROT_READ | PROT_WRITE, 0);
}

static void give_arena(void *ctx, void *p, size_t size)
{
    (void)ctx;
    const uintptr_t offset = (uintptr_t)p - (uintptr_t)region.start;
    if (!region.start || offset >= MOST * ARENA) {
        (void)munmap(p, size);
        return;
    }
    (void)madvise(p, size, MADV_DONTNEED); /* what was in it is gone, as after munmap */
    region.free[region.free_count++] = (unsigned short)(offset / ARENA);
}

void hc_settle_begin(void)
{
    static PyObjectArenaAllocator own = {.alloc = take_arena, .free = give_arena};
    void *p = map(MOST * ARENA + HUGE_PAGE, PROT_NONE, MAP_NORESERVE);
    if (!p)
        return;
    region.start = (char *)(((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    PyObject_SetArenaAllocator(&own);
}

/* ---- page tables ---- */

static void make_huge(uintptr_t from, uintptr_t to)
{
    for (from = (from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1); from + HUGE_PAGE <= to; from += HUGE_PAGE)
        (void)madvise((void *)from, HUGE_PAGE, MADV_COLLAPSE); /* one by one: one that fails ends the rest */
}

/* A line of /proc/self/maps of memory that is nobody's file: private, to be written, and without a name or
 * called the heap. */
static bool is_own(const char *rights, const char *line)
{
    const char *name = strrchr(line, ' ');
    return strncmp(rights, " rw-p ", 6) == 0 && name &&
           (strcmp(name, " \n") == 0 || strcmp(name, " [heap]\n") == 0);
}

static void use_huge_pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        char *at = line;
        uintptr_t from = strtoul(at, &at, 16), to = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
        if (is_own(at, line))
            make_huge(from, to);
    }
    if (maps)
        (void)fclose(maps);
}

void hc_settle(void)
{
    spend_free_chunks();
    for (size_t size = SMALLEST; size <= LARGEST_OBJ; size += SMALLEST)
        fill_pools(size);
    use_huge_pages();
}
