#include "spec/frame.h"

#include <errno.h>
#include <string.h>

static const char *const names[HC_FRAME_TYPES] = {
    [HC_FRAME_READY] = "ready",         [HC_FRAME_GO] = "go",
    [HC_FRAME_REJECTED] = "rejected",   [HC_FRAME_RUN] = "run",
    [HC_FRAME_REPORT] = "report",       [HC_FRAME_CHECKED] = "checked",
    [HC_FRAME_DENIAL] = "denial",       [HC_FRAME_FILTERED] = "filtered",
    [HC_FRAME_TOOL_CALL] = "tool call", [HC_FRAME_TOOL_RESULT] = "tool result",
    [HC_FRAME_NEXT] = "next",           [HC_FRAME_KEPT] = "kept",
    [HC_FRAME_RESUMED] = "resumed",     [HC_FRAME_JOB] = "job",
    [HC_FRAME_FIGURE] = "figure",
};

static bool has_payload(int type)
{
    return type == HC_FRAME_REJECTED || type == HC_FRAME_REPORT || type == HC_FRAME_CHECKED ||
           type == HC_FRAME_DENIAL || type == HC_FRAME_FIGURE || type == HC_FRAME_TOOL_CALL ||
           type == HC_FRAME_TOOL_RESULT;
}

int hc_frame_parse(const void *data, size_t len, struct hc_frame_head *head, const void **payload,
                   struct hc_error *err)
{
    if (len < sizeof *head)
        return hc_fail(err, 0, "frame: %zu bytes are too few", len);
    memcpy(head, data, sizeof *head);
    if (head->type == 0 || head->type >= HC_FRAME_TYPES || !names[head->type])
        return hc_fail(err, 0, "frame: unknown type %d", head->type);
    if (head->flags & ~HC_FRAME_LAST || head->zero)
        return hc_fail(err, 0, "frame '%s': unknown flags", names[head->type]);
    if (head->len != len - sizeof *head || head->len > HC_FRAME_CHUNK)
        return hc_fail(err, 0, "frame '%s': a length of %u in a packet of %zu bytes", names[head->type],
                       head->len, len);
    bool last = head->flags & HC_FRAME_LAST;
    if (!has_payload(head->type) && (head->len || !last))
        return hc_fail(err, 0, "frame '%s': must be a single frame without content", names[head->type]);
    /* A message that goes on must also grow, or it could go on for ever. */
    if (!last && !head->len)
        return hc_fail(err, 0, "frame '%s': empty, and not the last", names[head->type]);
    *payload = (const char *)data + sizeof *head;
    return 0;
}

/* May a message of this type begin now? */
static bool expected(const struct hc_inbox *in, int type)
{
    bool over = in->rejected || in->reported;
    switch (type) {
    case HC_FRAME_FILTERED:
        return !over && !in->ready && !in->running && !in->filtered;
    case HC_FRAME_READY:
        return !over && !in->running && !in->ready;
    case HC_FRAME_KEPT:
        return in->awaits_copy;
    case HC_FRAME_RESUMED:
        return in->awaits_resume;
    case HC_FRAME_REJECTED: /* before READY too: data could not be loaded */
        return !over && !in->running;
    case HC_FRAME_RUN:
        return !over && !in->running && in->ready;
    case HC_FRAME_CHECKED:
        return !over && !in->running && in->ready && !in->checked;
    case HC_FRAME_TOOL_CALL:
    case HC_FRAME_DENIAL:
    case HC_FRAME_FIGURE:
    case HC_FRAME_REPORT:
        return !over && in->running;
    default:
        return false;
    }
}

static void note(struct hc_inbox *in, int type)
{
    in->filtered |= type == HC_FRAME_FILTERED;
    in->ready |= type == HC_FRAME_READY;
    in->checked |= type == HC_FRAME_CHECKED;
    in->running |= type == HC_FRAME_RUN;
    in->rejected |= type == HC_FRAME_REJECTED;
    in->reported |= type == HC_FRAME_REPORT;
    in->awaits_copy &= type != HC_FRAME_KEPT;
    in->awaits_resume &= type != HC_FRAME_RESUMED;
}

static int feed(struct hc_inbox *in, const void *data, size_t len, struct hc_error *err)
{
    struct hc_frame_head head;
    const void *payload;
    if (hc_frame_parse(data, len, &head, &payload, err) < 0)
        return -1;
    if (in->open && in->open != head.type)
        return hc_fail(err, 0, "frame '%s' inside a '%s'", names[head.type], names[in->open]);
    if (!in->open && !expected(in, head.type))
        return hc_fail(err, 0, "frame '%s': out of turn", names[head.type]);
    if (!in->open)
        hc_buf_clear(&in->body);
    if (head.len > in->max - in->body.len)
        return hc_fail(err, EMSGSIZE, "frame '%s': more than %zu bytes", names[head.type], in->max);
    if (hc_buf_add(&in->body, payload, head.len) < 0)
        return hc_fail(err, ENOMEM, "frame '%s'", names[head.type]);
    bool last = head.flags & HC_FRAME_LAST;
    in->open = last ? 0 : head.type;
    if (!last)
        return 0;
    note(in, head.type);
    return head.type;
}

int hc_inbox_feed(struct hc_inbox *in, const void *data, size_t len, struct hc_error *err)
{
    if (in->broken)
        return hc_fail(err, 0, "frame after one that broke the protocol");
    int type = feed(in, data, len, err);
    in->broken = type < 0;
    return type;
}

void hc_inbox_finish(struct hc_inbox *in)
{
    hc_buf_finish(&in->body);
    *in = (struct hc_inbox){0};
}
