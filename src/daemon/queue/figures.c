#include "daemon/queue/figures.h"

#include "base/array.h"
#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void drop_figure(struct hc_figures *f, size_t i)
{
    f->bytes -= f->list[i].data.len;
    hc_buf_finish(&f->list[i].data);
    f->count--;
    memmove(&f->list[i], &f->list[i + 1], (f->count - i) * sizeof *f->list);
}

static void forget_path(struct hc_figures *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->list[i].path, path) == 0) {
            drop_figure(f, i);
            return;
        }
    }
}

void hc_figures_keep(struct hc_figures *f, const char *path, int fd)
{
    struct hc_error ignored;
    struct hc_kept_figure new = {0};
    forget_path(f, path);
    if (fd < 0)
        return;
    (void)snprintf(new.path, sizeof new.path, "%s", path);
    struct hc_kept_figure *grown = hc_array_grow(f->list, f->count, sizeof *grown);
    if (grown)
        f->list = grown;
    if (!grown || lseek(fd, 0, SEEK_SET) < 0 || hc_read_all(fd, &new.data, HC_FIGURES_MAX, &ignored) < 0) {
        hc_buf_finish(&new.data);
        return;
    }
    f->bytes += new.data.len;
    f->list[f->count++] = new;
    while (f->bytes > HC_FIGURES_MAX)
        drop_figure(f, 0);
}

const struct hc_buf *hc_figures_find(const struct hc_figures *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->list[i].path, path) == 0)
            return &f->list[i].data;
    return NULL;
}

void hc_figures_finish(struct hc_figures *f)
{
    while (f->count)
        drop_figure(f, f->count - 1);
    free(f->list);
    *f = (struct hc_figures){0};
}
