/* A copy of a process costs time for each page table entry, of which memory in small pages has many, and for
 * each page that the copy writes to, which are many if the allocators have free pieces in many places. */
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
#define HUGE_PAGE 0x200000UL /* bytes of a huge page */

/* ---- libc's allocator ---- */

#define LARGEST_CHUNK                                                                                        \
    ((size_t)64 << 10) /* bytes of the largest chunk to be taken: there are few larger ones */
#define CHUNK_STEP 16  /* bytes: sizes of chunks are multiples of it */

/* The address where the memory begins that malloc has never given out. Below it are chunks, used and free. */
static uintptr_t top_of_heap(void)
{
    return (uintptr_t)sbrk(0) - mallinfo2().keepcost;
}

/* Allocates all free chunks of this size and never frees them, so that no copy writes to their pages. */
static void take_free_chunks(size_t size)
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

/* Without this an allocation in a copy would take one of thousands of scattered free chunks, and write to
 * that chunk's neighbours in the free lists; with it all allocations come from the end of the heap. */
static void take_all_free_chunks(void)
{
    for (size_t size = LARGEST_CHUNK; size > 1024; size -= size / 8 / CHUNK_STEP * CHUNK_STEP)
        take_free_chunks(size);
    for (size_t size = 1024; size >= CHUNK_STEP; size -= CHUNK_STEP)
        take_free_chunks(size - sizeof(size_t)); /* all of a chunk but its head */
}

/* ---- Python's allocator ---- */

#define SMALLEST_CLASS 16    /* bytes of the smallest size class */
#define LARGEST_OBJ    512   /* bytes of the largest size class */
#define POOL           16384 /* bytes of a pool, which has objects of one size; CPython's POOL_SIZE */
#define IN_A_ROW       8     /* objects at consecutive addresses prove that their pool is new */

/* Fills the pools of one size class that have free objects, for the same reason as with chunks. */
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

/* ---- the memory of Python's allocator ---- */

#define ARENA      0x100000UL /* bytes of an arena; CPython's ARENA_SIZE */
#define MAX_ARENAS 1024       /* most arenas of the region, which is address space and not memory */

/* The region that all arenas are taken from. Python's own mappings would lie in gaps between those of
 * libraries, and none would be large enough for a huge page. */
static struct {
    char *start;                     /* address of the region; NULL: there is none */
    size_t used;                     /* arenas ever given out, from the start of the region on */
    unsigned short free[MAX_ARENAS]; /* indexes of arenas that are free again */
    size_t free_count;
} region;

/* mmap(2) of anonymous memory; NULL: it failed. */
static void *map(size_t size, int rights, int flags)
{
    // -1 is what mmap(2) asks for here.
    // cppcheck-suppress invalidFunctionArg
    void *p = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *allocate_arena(void *ctx, size_t size)
{
    (void)ctx;
    if (size == ARENA && region.start && (region.free_count || region.used < MAX_ARENAS)) {
        size_t at = region.free_count ? region.free[region.free_count - 1] : region.used;
        char *p = region.start + at * ARENA;
        if (mprotect(p, ARENA, PROT_READ | PROT_WRITE) == 0) {
            *(region.free_count ? &region.free_count : &region.used) += region.free_count ? (size_t)-1 : 1;
            return p;
        }
    }
    return map(size, PROT_READ | PROT_WRITE, 0);
}

static void free_arena(void *ctx, void *p, size_t size)
{
    (void)ctx;
    const uintptr_t offset = (uintptr_t)p - (uintptr_t)region.start;
    if (!region.start || offset >= MAX_ARENAS * ARENA) {
        (void)munmap(p, size);
        return;
    }
    (void)madvise(p, size, MADV_DONTNEED); /* frees its pages, as munmap would */
    region.free[region.free_count++] = (unsigned short)(offset / ARENA);
}

void hc_settle_begin(void)
{
    static PyObjectArenaAllocator own = {.alloc = allocate_arena, .free = free_arena};
    void *p = map(MAX_ARENAS * ARENA + HUGE_PAGE, PROT_NONE, MAP_NORESERVE);
    if (!p)
        return;
    region.start = (char *)(((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    PyObject_SetArenaAllocator(&own);
}

/* ---- page tables ---- */

static void make_huge(uintptr_t from, uintptr_t to)
{
    /* Each call is for one page: a call for several would stop at the first failure. */
    for (from = (from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1); from + HUGE_PAGE <= to; from += HUGE_PAGE)
        (void)madvise((void *)from, HUGE_PAGE, MADV_COLLAPSE);
}

/* Is this line of /proc/self/maps anonymous memory: private, writable, and without a name or the heap? */
static bool is_anonymous(const char *rights, const char *line)
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
        if (is_anonymous(at, line))
            make_huge(from, to);
    }
    if (maps)
        (void)fclose(maps);
}

void hc_settle(void)
{
    take_all_free_chunks();
    for (size_t size = SMALLEST_CLASS; size <= LARGEST_OBJ; size += SMALLEST_CLASS)
        fill_pools(size);
    use_huge_pages();
}
