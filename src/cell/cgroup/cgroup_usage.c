/* What a cell used, as its cgroup says. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 4096

/* The number behind `key` and a separator, where key begins a word; -1: not there. */
static int64_t number_behind(const char *text, const char *key, char separator)
{
    size_t len = strlen(key);
    for (const char *p = text; (p = strstr(p, key)); p += len)
        if ((p == text || p[-1] == '\n' || p[-1] == ' ') && p[len] == separator)
            return strtoll(p + len + 1, NULL, 10);
    return -1;
}

static int64_t read_number(int dir, const char *file)
{
    char text[64];
    return hc_read_attr(dir, file, text, sizeof text) < 0 ? -1 : strtoll(text, NULL, 10);
}

/* Files of lines "key number". The text is empty, and so all its numbers unknown, where there is no file. */
static const char *read_keyed(int dir, const char *file, char text[FILE_MAX])
{
    if (hc_read_attr(dir, file, text, FILE_MAX) < 0)
        text[0] = '\0';
    return text;
}

/* One line per stage: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0". */
static struct hc_pressure read_pressure(int dir, const char *file)
{
    char text[FILE_MAX];
    struct hc_pressure p = {-1, -1};
    const char *some = strstr(read_keyed(dir, file, text), "some ");
    const char *full = strstr(text, "full "); /* of the CPU only since Linux 5.13 */
    if (some)
        p.some_us = number_behind(some, "total", '=');
    if (full)
        p.full_us = number_behind(full, "total", '=');
    return p;
}

/* One line per disk: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6"; a disk without traffic may have
 * its number alone. */
static void read_io(int dir, struct hc_cgroup_usage *out)
{
    char text[FILE_MAX], *rest = NULL;
    if (hc_read_attr(dir, "io.stat", text, sizeof text) < 0)
        return;
    const struct {
        const char *key;
        int64_t *sum;
    } columns[] = {{"rbytes", &out->read_bytes},
                   {"wbytes", &out->written_bytes},
                   {"rios", &out->reads},
                   {"wios", &out->writes}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        *columns[i].sum = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            int64_t n = number_behind(line, columns[i].key, '=');
            *columns[i].sum += n > 0 ? n : 0;
        }
    }
}

int64_t hc_cgroup_cpu_us(const struct hc_cgroup *cg)
{
    char text[FILE_MAX];
    return number_behind(read_keyed(cg->fd, "cpu.stat", text), "usage_usec", ' ');
}

void hc_cgroup_now(const struct hc_cgroup *cg, int64_t *memory, int64_t *pids)
{
    *memory = read_number(cg->fd, "memory.current");
    *pids = read_number(cg->fd, "pids.current");
}

void hc_cgroup_usage(const struct hc_cgroup *cg, struct hc_cgroup_usage *out)
{
    char text[FILE_MAX];
    *out = (struct hc_cgroup_usage){
        .memory_peak = read_number(cg->fd, "memory.peak"), /* since Linux 5.19 */
        .pids_peak = read_number(cg->fd, "pids.peak"),     /* since Linux 6.1 */
        .read_bytes = -1,
        .written_bytes = -1,
        .reads = -1,
        .writes = -1,
        .memory_pressure = read_pressure(cg->fd, "memory.pressure"),
        .cpu_pressure = read_pressure(cg->fd, "cpu.pressure"),
        .io_pressure = read_pressure(cg->fd, "io.pressure"),
    };
    (void)read_keyed(cg->fd, "cpu.stat", text);
    out->cpu_user_us = number_behind(text, "user_usec", ' ');
    out->cpu_system_us = number_behind(text, "system_usec", ' ');
    out->cpu_throttled_us = number_behind(text, "throttled_usec", ' ');
    (void)read_keyed(cg->fd, "memory.events", text);
    out->oom_kills = number_behind(text, "oom_kill", ' ');
    out->memory_max_hits = number_behind(text, "max", ' ');
    out->memory_high_hits = number_behind(text, "high", ' ');
    (void)read_keyed(cg->fd, "pids.events", text);
    out->pids_refused = number_behind(text, "max", ' ');
    read_io(cg->fd, out);
}
