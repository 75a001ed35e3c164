/* Read what a cell used from its cgroup. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 4096 /* most bytes read of a file */

/* Find `word`, followed by a blank or "=", and return the number behind it. *text then begins behind the
 * word. -1: the text does not have the word any more. */
static int64_t next_number(const char **text, const char *word)
{
    size_t len = strlen(word);
    const char *begin = *text;
    for (const char *p = begin; (p = strstr(p, word)); p += len) {
        if ((p != begin && p[-1] != '\n' && p[-1] != ' ') || (p[len] != ' ' && p[len] != '='))
            continue;
        *text = p + len;
        return strtoll(*text + 1, NULL, 10);
    }
    return -1;
}

/* Add up a word's numbers. Each disk has one line: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6"; the
 * line of a disk without traffic may be its number alone. */
static int64_t sum_of(const char *text, const char *word)
{
    int64_t sum = 0;
    for (int64_t n; (n = next_number(&text, word)) >= 0;)
        sum += n;
    return sum;
}

/* The number that `key` names in the text of a file; usage.def explains the keys. */
static int64_t value_of(const char *text, const char *key)
{
    char line[16];
    const char *blank = key ? strchr(key, ' ') : NULL;
    if (!key)
        return strtoll(text, NULL, 10);
    if (!blank)
        return next_number(&text, key);
    if (*key == '*')
        return sum_of(text, blank + 1);
    (void)snprintf(line, sizeof line, "%.*s", (int)(blank + 1 - key), key);
    text = strstr(text, line); /* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
    return text ? next_number(&text, blank + 1) : -1;
}

static int64_t read_number(int dir, const char *file)
{
    char text[64];
    return hc_read_attr(dir, file, text, sizeof text) < 0 ? -1 : strtoll(text, NULL, 10);
}

/* The file that was read last. */
struct page {
    const char *file; /* name of the file, static; NULL: none was read */
    bool there;       /* the file could be read */
    char text[FILE_MAX];
};

static int64_t look_up(struct page *page, int dir, const char *file, const char *key)
{
    if (!page->file || strcmp(page->file, file) != 0) {
        page->file = file;
        page->there = hc_read_attr(dir, file, page->text, sizeof page->text) >= 0;
    }
    return page->there ? value_of(page->text, key) : -1;
}

int64_t hc_cgroup_cpu_us(const struct hc_cgroup *cg)
{
    struct page page = {0};
    return look_up(&page, cg->fd, "cpu.stat", "usage_usec");
}

void hc_cgroup_now(const struct hc_cgroup *cg, int64_t *memory, int64_t *pids)
{
    *memory = read_number(cg->fd, "memory.current");
    *pids = read_number(cg->fd, "pids.current");
}

void hc_cgroup_usage(const struct hc_cgroup *cg, struct hc_cgroup_usage *out)
{
    struct page page = {0};
    hc_usage_forget(&out->of_cell);
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        const struct hc_usage_row *row = &hc_usage_rows[i];
        if (row->file)
            hc_usage_set(&out->of_cell, row, look_up(&page, cg->fd, row->file, row->key));
    }
    out->oom_kills = look_up(&page, cg->fd, "memory.events", "oom_kill");
    out->pids_refused = look_up(&page, cg->fd, "pids.events", "max");
}
