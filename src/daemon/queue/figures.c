#include "daemon/queue/figures.h"

#include "base/array.h"
#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hc_figure_data_unref(void *data)
{
    struct hc_figure_data *d = data;
    if (!d || --d->users)
        return;
    hc_buf_finish(&d->bytes);
    free(d);
}

/* Read a figure's content. NULL: it cannot be read, or there is no memory. */
static struct hc_figure_data *read_figure(int fd)
{
    struct hc_error ignored;
    struct hc_figure_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->users = 1;
    if (lseek(fd, 0, SEEK_SET) == 0 && hc_read_all(fd, &d->bytes, HC_FIGURES_MAX, &ignored) == 0)
        return d;
    hc_figure_data_unref(d);
    return NULL;
}

static void drop_figure(struct hc_figures *f, size_t i)
{
    f->bytes -= f->list[i].data->bytes.len;
    hc_figure_data_unref(f->list[i].data);
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
    struct hc_kept_figure new = {0};
    forget_path(f, path);
    if (fd < 0)
        return;
    (void)snprintf(new.path, sizeof new.path, "%s", path);
    struct hc_kept_figure *grown = hc_array_grow(f->list, f->count, sizeof *grown);
    if (grown)
        f->list = grown;
    new.data = grown ? read_figure(fd) : NULL;
    if (!new.data)
        return;
    f->bytes += new.data->bytes.len;
    f->list[f->count++] = new;
    while (f->count && f->bytes > HC_FIGURES_MAX)
        drop_figure(f, 0);
}

struct hc_figure_data *hc_figures_find(const struct hc_figures *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->list[i].path, path) != 0)
            continue;
        f->list[i].data->users++;
        return f->list[i].data;
    }
    return NULL;
}

void hc_figures_finish(struct hc_figures *f)
{
    while (f->count)
        drop_figure(f, f->count - 1);
    free(f->list);
    *f = (struct hc_figures){0};
}
