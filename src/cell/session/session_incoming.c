#include "cell/session/session_incoming.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hc_incoming *hc_incoming_find(struct hc_incoming_files *f, const char *path)
{
    for (size_t i = 0; i < HC_INCOMING_FILES; i++)
        if (f->list[i].path && strcmp(f->list[i].path, path) == 0)
            return &f->list[i];
    return NULL;
}

struct hc_incoming *hc_incoming_add(struct hc_incoming_files *f, const char *path, int fd_taken,
                                    int64_t total)
{
    hc_autofd fd = fd_taken;
    struct hc_incoming *in = f->list;
    while (in < f->list + HC_INCOMING_FILES && in->path)
        in++;
    if (in == f->list + HC_INCOMING_FILES) {
        errno = EBUSY;
        return NULL;
    }
    *in = (struct hc_incoming){.path = strdup(path), .total = total, .touched_us = hc_now_us()};
    if (!in->path)
        return NULL;
    in->fd = hc_take(&fd);
    return in;
}

void hc_incoming_drop(struct hc_incoming *in)
{
    if (!in || !in->path)
        return;
    hc_close_fd(&in->fd);
    free(in->path);
    in->path = NULL;
}

void hc_incoming_drop_old(struct hc_incoming_files *f)
{
    const int64_t oldest = hc_now_us() - HC_INCOMING_US;
    for (size_t i = 0; i < HC_INCOMING_FILES; i++)
        if (f->list[i].path && f->list[i].touched_us < oldest)
            hc_incoming_drop(&f->list[i]);
}

void hc_incoming_finish(struct hc_incoming_files *f)
{
    for (size_t i = 0; i < HC_INCOMING_FILES; i++)
        hc_incoming_drop(&f->list[i]);
}
