/* Write results of jobs that have ended into the journal and the results, in their order, and count them. */
#include "batch/front.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t index_of(const struct hc_batch_front *f, int64_t line)
{
    return hc_shard_index(line, f->asked->shard, f->asked->shards);
}

/* ---- with --ordered ---- */

static size_t slot(int64_t index)
{
    return (size_t)(index % HC_BATCH_WINDOW);
}

/* May the line be begun? Lines of other shards are skipped anyway. */
bool hc_order_has_room(const struct hc_batch_front *f, int64_t line)
{
    int64_t index = index_of(f, line);
    return !f->asked->ordered || index < 0 || index < f->order.next + HC_BATCH_WINDOW;
}

/* Standard output failed: begin no more jobs. Running jobs are waited for, since their outcome would
 * otherwise be unknown. */
static void note_lost_output(struct hc_batch_front *f)
{
    (void)hc_ctx(&f->stdout_error, "standard output");
    if (!f->stop)
        f->stop = "standard output failed";
}

static int write_result(struct hc_batch_front *f, const char *text, size_t len, struct hc_error *err)
{
    if (hc_folder_result(&f->folder, text, len, err) < 0)
        return -1;
    if (!f->asked->json || f->stdout_error.exit)
        return 0;
    hc_progress_hide(f);
    if (hc_write_all(STDOUT_FILENO, text, len, &f->stdout_error) < 0)
        note_lost_output(f);
    return 0;
}

/* Copy a result from the journal into the results. */
static int write_from_journal(struct hc_batch_front *f, int64_t at, size_t len, struct hc_error *err)
{
    char *text = malloc(len + 1);
    if (!text)
        return hc_fail(err, ENOMEM, "results");
    int rc = pread(f->folder.journal, text, len, at) == (ssize_t)len ? 0 : hc_fail(err, errno, "journal");
    text[len] = '\n';
    if (rc == 0)
        rc = write_result(f, text, len + 1, err);
    free(text);
    return rc;
}

static int write_due_results(struct hc_batch_front *f, struct hc_error *err)
{
    struct hc_order *o = &f->order;
    for (;;) {
        size_t i = slot(o->next);
        if (!o->ring[i].set && hc_lineset_has(&f->past.done, o->next)) {
            o->next++; /* written by an earlier run, or blank in it */
            continue;
        }
        if (!o->ring[i].set)
            return 0;
        if (o->ring[i].len && write_from_journal(f, o->ring[i].at, o->ring[i].len, err) < 0)
            return -1;
        o->ring[i].set = false;
        o->next++;
    }
}

static int put_in_ring(struct hc_batch_front *f, int64_t index, int64_t at, size_t len, struct hc_error *err)
{
    if (index < f->order.next || index >= f->order.next + HC_BATCH_WINDOW)
        return hc_fail(err, ERANGE, "results");
    f->order.ring[slot(index)].at = at;
    f->order.ring[slot(index)].len = len;
    f->order.ring[slot(index)].set = true;
    return 0;
}

static int wait_for_turn(struct hc_batch_front *f, int64_t index, int64_t at, size_t len,
                         struct hc_error *err)
{
    return put_in_ring(f, index, at, len, err) < 0 ? -1 : write_due_results(f, err);
}

int hc_order_start(struct hc_batch_front *f, struct hc_error *err)
{
    if (!f->asked->ordered)
        return 0;
    f->order.ring = calloc(HC_BATCH_WINDOW, sizeof *f->order.ring);
    if (!f->order.ring)
        return hc_fail(err, ENOMEM, "results");
    const struct hc_waiting_result *kept = f->past.kept;
    int64_t first = f->past.kept_count ? index_of(f, kept[0].line) : -1;
    while (f->order.next != first && hc_lineset_has(&f->past.done, f->order.next))
        f->order.next++;
    for (size_t i = 0; i < f->past.kept_count; i++)
        if (put_in_ring(f, index_of(f, kept[i].line), kept[i].at, kept[i].len, err) < 0)
            return -1;
    return write_due_results(f, err);
}

/* ---- all results ---- */

static int note_end(struct hc_batch_front *f, const struct hc_result *r, const char *text, size_t len,
                    int64_t *at, struct hc_error *err)
{
    struct hc_entry e = {.kind = HC_ENTRY_END, .line = r->line};
    (void)snprintf(e.job_id, sizeof e.job_id, "%s", r->job_id);
    (void)snprintf(e.status, sizeof e.status, "%s", hc_batch_status_name(r->status));
    return hc_folder_note(&f->folder, &e, text, len, at, err);
}

static int store_result(struct hc_batch_front *f, const struct hc_result *r, const char *text, size_t len,
                        struct hc_error *err)
{
    int64_t index = index_of(f, r->line), at;
    if (f->asked->ordered && index != f->order.next) {
        if (note_end(f, r, text, len - 1, &at, err) < 0)
            return -1;
        return wait_for_turn(f, index, at, len - 1, err);
    }
    if (write_result(f, text, len, err) < 0 || note_end(f, r, NULL, 0, NULL, err) < 0)
        return -1;
    f->order.next = index + 1;
    return f->asked->ordered ? write_due_results(f, err) : 0;
}

int hc_batch_front_end(struct hc_batch_front *f, const struct hc_result *r, const char *text, size_t len,
                       struct hc_error *err)
{
    if (store_result(f, r, text, len, err) < 0)
        return -1;
    hc_tally_add(&f->tally, r);
    f->ended_here++;
    (void)hc_folder_want_sync(&f->folder);
    if (r->status == HC_BATCH_OK)
        return 0;
    f->failures++;
    if (f->asked->max_failures && f->failures >= f->asked->max_failures && !f->stop)
        f->stop = "too many failures";
    return 0;
}

int hc_batch_front_end_bare(struct hc_batch_front *f, const struct hc_result *r, struct hc_error *err)
{
    hc_autobuf text = {0};
    hc_result_print(&text, r, NULL, 0);
    (void)hc_buf_str(&text, "\n");
    return text.failed ? hc_fail(err, ENOMEM, "result") : hc_batch_front_end(f, r, text.data, text.len, err);
}

int hc_batch_front_end_blank(struct hc_batch_front *f, int64_t line, struct hc_error *err)
{
    return f->asked->ordered ? wait_for_turn(f, index_of(f, line), 0, 0, err) : 0;
}
