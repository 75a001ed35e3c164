/* Turn lines into claims: check them, give them IDs, and note them in the journal before they are run. */
#include "batch/front.h"

#include "base/fd.h"
#include "json/json.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(const struct hc_line *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (!strchr(" \t\r", line->text[i]) || !line->text[i])
            return false;
    return true;
}

static int end_invalid(struct hc_batch_front *f, int64_t line, const char *job_id, const struct hc_error *why,
                       struct hc_error *err)
{
    struct hc_result r = {.line = line,
                          .status = HC_BATCH_INVALID,
                          .exit_code = why->exit == HC_EXIT_USAGE ? HC_EXIT_DATA : why->exit,
                          .attempts = 1,
                          .wall_us = -1};
    (void)snprintf(r.job_id, sizeof r.job_id, "%s", job_id);
    (void)snprintf(r.reason, sizeof r.reason, "%.*s", (int)sizeof r.reason - 1, why->text);
    return hc_batch_front_end_bare(f, &r, err);
}

/* The job's own ID, or one made of the line's number and hash. */
static void choose_id(const struct hc_job *job, const struct hc_line *text, int64_t line,
                      char out[HC_BATCH_ID])
{
    char hash[HC_SHA256_HEX];
    if (job->job_id) {
        (void)snprintf(out, HC_BATCH_ID, "%s", job->job_id);
        return;
    }
    hc_sha256_hex(text->text, text->len, hash);
    (void)snprintf(out, HC_BATCH_ID, "line-%lld-%.12s", (long long)line, hash);
}

static int note_begin(struct hc_batch_front *f, struct hc_claim *c, struct hc_error *err)
{
    struct hc_entry e = {
        .kind = HC_ENTRY_BEGIN, .line = c->task.line, .attempt = c->task.attempt, .bytes = f->reader.bytes};
    memcpy(e.job_id, c->task.job_id, sizeof e.job_id);
    hc_reader_hash(&f->reader, e.sha256);
    if (f->reader.line != c->task.line) { /* a line that is tried again: only new lines have a hash */
        e.bytes = 0;
        e.sha256[0] = '\0';
    }
    c->sync = hc_folder_want_sync(&f->folder);
    return hc_folder_note(&f->folder, &e, NULL, 0, NULL, err);
}

static int queue_claim(struct hc_batch_front *f, struct hc_claim *c, struct hc_error *err)
{
    if (note_begin(f, c, err) < 0)
        return -1;
    f->claims[f->claim_count++] = *c;
    return 0;
}

int hc_batch_front_claim_again(struct hc_batch_front *f, struct hc_claim *claim_line, struct hc_error *err)
{
    struct hc_claim c = *claim_line;
    claim_line->fd = -1;
    c.task.attempt++;
    c.task.again = true;
    if (queue_claim(f, &c, err) == 0)
        return 0;
    hc_close_fd(&c.fd);
    return -1;
}

/* End a line that an earlier run began, and whose outcome is unknown. */
static int end_unknown(struct hc_batch_front *f, const struct hc_open_line *open, struct hc_error *err)
{
    struct hc_result r = {.line = open->line,
                          .status = HC_BATCH_OUTCOME_UNKNOWN,
                          .exit_code = HC_EXIT_INTERNAL,
                          .attempts = open->attempt,
                          .wall_us = -1};
    memcpy(r.job_id, open->job_id, sizeof r.job_id);
    (void)snprintf(
        r.reason, sizeof r.reason,
        "begun by a run of the batch that was killed; --resume --rerun outcome_unknown runs it again");
    return hc_batch_front_end_bare(f, &r, err);
}

static int claim_line(struct hc_batch_front *f, const struct hc_line *line, const char *job_id,
                      struct hc_error *err)
{
    struct hc_claim c = {.task = {.line = f->reader.line, .attempt = 1}};
    const struct hc_open_line *open = hc_past_find(&f->past, c.task.line);
    if (open) {
        c.task.attempt = open->attempt + (open->started || open->again);
        c.task.again = c.task.attempt > 1;
    }
    memcpy(c.task.job_id, job_id, sizeof c.task.job_id);
    c.fd = hc_sealed_memfd("hotcell-job", line->text, line->len, err);
    if (c.fd < 0)
        return -1;
    if (queue_claim(f, &c, err) == 0)
        return 0;
    hc_close_fd(&c.fd);
    return -1;
}

static int check_line(struct hc_batch_front *f, const struct hc_line *line, struct hc_job *job,
                      char job_id[HC_BATCH_ID], struct hc_error *err)
{
    const int64_t number = f->reader.line;
    int64_t first;
    if (line->too_long)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s:%lld: longer than %zu MB", f->name, (long long)number,
                          HC_BATCH_MAX_LINE >> 20);
    if (hc_batch_parse(f->batch, job, number, line->text, line->len, err) < 0)
        return -1;
    choose_id(job, line, number, job_id);
    if (hc_job_ids_put(&f->job_ids, job_id, number, &first, err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    if (first != number)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s:%lld: the job_id '%s' is that of line %lld", f->name,
                          (long long)number, job_id, (long long)first);
    return 0;
}

static int note_blank(struct hc_batch_front *f, struct hc_error *err)
{
    const struct hc_entry e = {.kind = HC_ENTRY_BLANK, .line = f->reader.line};
    return hc_folder_note(&f->folder, &e, NULL, 0, NULL, err) < 0 ? -1
                                                                  : hc_batch_front_end_blank(f, e.line, err);
}

static int handle_line(struct hc_batch_front *f, const struct hc_line *line, struct hc_error *err)
{
    char job_id[HC_BATCH_ID] = "";
    struct hc_job job = {0};
    struct hc_error why;
    int64_t index = hc_shard_index(f->reader.line, f->asked->shard, f->asked->shards);
    if (index < 0 || hc_lineset_has(&f->past.done, index))
        return 0;
    if (!line->too_long && is_blank(line))
        return note_blank(f, err);
    const struct hc_open_line *open = hc_past_find(&f->past, f->reader.line);
    if (open && open->started && !open->again && !f->asked->rerun[HC_BATCH_OUTCOME_UNKNOWN])
        return end_unknown(f, open, err);
    int rc = check_line(f, line, &job, job_id, &why);
    hc_job_finish(&job);
    if (rc < 0 && why.exit == HC_EXIT_INTERNAL) {
        *err = why;
        return -1;
    }
    return rc < 0 ? end_invalid(f, f->reader.line, job_id, &why, err) : claim_line(f, line, job_id, err);
}

/* Can the descriptor be read without waiting? */
static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

int hc_batch_front_claim(struct hc_batch_front *f, struct hc_error *err)
{
    f->input_waits = false;
    while (!f->stop && !f->input_ended && f->claim_count < f->worker_count &&
           hc_order_has_room(f, f->reader.line + 1)) {
        struct hc_line line;
        enum hc_read found = hc_reader_next(&f->reader, &line);
        if (found == HC_READ_END)
            f->input_ended = true;
        if (found == HC_READ_LINE && handle_line(f, &line, err) < 0)
            return -1;
        if (found != HC_READ_MORE)
            continue;
        f->input_waits = !is_readable(f->input);
        if (f->input_waits)
            return 0;
        if (hc_reader_fill(&f->reader, err) < 0)
            return hc_ctx(err, "%s", f->name);
    }
    return 0;
}
