/* nomem - preloaded into a program, lets one of its allocations fail: the one that NOMEM_AT numbers, from 1
 * on. With NOMEM_COUNT, how many there were goes to the file of that name at the program's end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long count;

static bool fails(void)
{
    static long at = -1;
    if (at < 0) {
        const char *text = getenv("NOMEM_AT");
        at = text ? strtol(text, NULL, 10) : 0;
    }
    if (++count != at)
        return false;
    errno = ENOMEM;
    return true;
}

/* glibc's own names for them, so that looking them up needs no memory. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void tell(void)
{
    char text[32];
    const char *path = getenv("NOMEM_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
                        : -1; /* a stream would allocate, and could fail */
    const int len = snprintf(text, sizeof text, "%ld\n", count);
    if (fd < 0 || write(fd, text, (size_t)len) != len)
        return;
    (void)close(fd);
}
