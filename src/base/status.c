#include "base/status.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes for /proc/PID/status, which names all groups of a process, and there may be 65536 of them. */
#define STATUS_MAX (1 << 20)

const char *hc_status_read(int dir_fd, const char *path)
{
    /* One buffer for all callers: static data counts under RLIMIT_DATA whether it is used or not. */
    static char text[STATUS_MAX];
    return hc_read_record(dir_fd, path, text, sizeof text) < 0 ? NULL : text;
}

uint64_t hc_status_field(const char *text, const char *key, int base, uint64_t otherwise)
{
    char line[40];
    int len = snprintf(line, sizeof line, "\n%s:", key);
    const char *at = strstr(text, line);
    return at ? strtoull(at + len, NULL, base) : otherwise;
}

int64_t hc_status_memory(const char *text)
{
    static const char *const rows[] = {"RssAnon", "RssShmem", "VmSwap", "VmPTE"};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sum += (int64_t)hc_status_field(text, rows[i], 10, 0) * 1024;
    return sum;
}

long hc_status_inner_id(const char *text, const char *key)
{
    char start[32];
    int len = snprintf(start, sizeof start, "\n%s:", key);
    const char *line = strstr(text, start);
    const char *end = line ? strchrnul(line + len, '\n') : NULL;
    const char *last = end ? memrchr(line, '\t', (size_t)(end - line)) : NULL;
    return last ? strtol(last + 1, NULL, 10) : -1;
}

int hc_status_own_filters(void)
{
    const char *text = hc_status_read(AT_FDCWD, "/proc/self/status");
    return text ? (int)hc_status_field(text, "Seccomp_filters", 10, 0) : 0;
}
