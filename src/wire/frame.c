#include "wire/frame.h"

#include <errno.h>
#include <string.h>

#define IN(state)  (1U << HC_TALK_##state) /* bit of a state in frame.legal */
#define UNTOUCHED  (IN(START) | IN(READY) | IN(CHECKING))
#define IN_SESSION (IN(READY) | IN(CHECKING) | IN(AGAIN) | IN(IDLE))

/* The rules for each type of frame. A frame of HC_FROM_SHIM is legal only in states in which no guest code
 * has run.
 */
static const struct frame {
    const char *name;          /* name of the type in messages */
    enum hc_frame_sender word; /* which process may send it, and so how far it is trusted */
    bool payload;              /* it may have content */
    unsigned allowed_states;   /* a bit for each state in which the cell may send it */
    bool at_most_once;         /* it may come at most once in a conversation */
    unsigned asked; /* HC_ASKED_* that it answers: it is legal only while that is open; 0: legal unasked */
    enum hc_talk_state next; /* the state after it; 0: the state stays */
} frames[HC_FRAME_TYPES] = {
    [HC_FRAME_GO] = {"go", .word = HC_FROM_LAUNCHER},
    [HC_FRAME_JOB] = {"job", .word = HC_FROM_LAUNCHER},
    [HC_FRAME_PREPARE] = {"prepare", .word = HC_FROM_LAUNCHER},
    [HC_FRAME_NEXT] = {"next", .word = HC_FROM_LAUNCHER},
    [HC_FRAME_TOOL_RESULT] = {"tool result", HC_FROM_LAUNCHER, .payload = true},

    [HC_FRAME_SAMPLE] = {"sample", HC_FROM_SHIM, .payload = true},
    [HC_FRAME_FILTERED] = {"filtered", HC_FROM_SHIM, .allowed_states = IN(START), .at_most_once = true},
    [HC_FRAME_READY] = {"ready", HC_FROM_SHIM, .allowed_states = IN(START), .next = HC_TALK_READY},
    [HC_FRAME_CHECKED] = {"checked", HC_FROM_SHIM, .payload = true,
                          .allowed_states = IN(READY) | IN(CHECKING), .at_most_once = true},
    [HC_FRAME_PASSED] = {"passed", HC_FROM_SHIM, .allowed_states = IN(CHECKING), .next = HC_TALK_OVER},
    /* It may come in START, too, when data could not be loaded. */
    [HC_FRAME_REJECTED] = {"rejected", HC_FROM_SHIM, .payload = true, .allowed_states = UNTOUCHED,
                           .next = HC_TALK_OVER},

    [HC_FRAME_RUN] = {"run", HC_FROM_GUEST, .allowed_states = IN(READY) | IN(AGAIN), .next = HC_TALK_RUNNING},
    [HC_FRAME_TOOL_CALL] = {"tool call", HC_FROM_GUEST, .payload = true, .allowed_states = IN(RUNNING)},
    [HC_FRAME_DENIAL] = {"denial", HC_FROM_GUEST, .payload = true, .allowed_states = IN(RUNNING)},
    [HC_FRAME_FIGURE] = {"figure", HC_FROM_GUEST, .payload = true, .allowed_states = IN(RUNNING)},
    [HC_FRAME_INPUT] = {"input", HC_FROM_GUEST, .payload = true, .allowed_states = IN(RUNNING)},
    [HC_FRAME_REPORT] = {"report", HC_FROM_GUEST, .payload = true, .allowed_states = IN(RUNNING),
                         .next = HC_TALK_OVER},
    /* The kernel tells which process sends these. A copy sends KEPT itself, perhaps later than the process
     * that it was copied from sends its next frame. */
    [HC_FRAME_KEPT] = {"kept", HC_FROM_GUEST, .allowed_states = IN_SESSION | IN(RUNNING) | IN(OVER),
                       .asked = HC_ASKED_COPY},
    [HC_FRAME_UNKEPT] = {"unkept", HC_FROM_GUEST, .allowed_states = IN_SESSION, .asked = HC_ASKED_COPY,
                         .next = HC_TALK_OVER},
    [HC_FRAME_RESUMED] = {"resumed", HC_FROM_GUEST, .allowed_states = IN(IDLE), .asked = HC_ASKED_RESUME},
};

enum hc_frame_sender hc_frame_sender(enum hc_frame_type type)
{
    return frames[type].word;
}

bool hc_talk_untouched(enum hc_talk_state state)
{
    return (UNTOUCHED & 1U << state) != 0;
}

int hc_frame_parse(const void *data, size_t len, struct hc_frame_head *head, const void **payload,
                   struct hc_error *err)
{
    if (len < sizeof *head)
        return hc_fail(err, 0, "frame: %zu bytes are too few", len);
    memcpy(head, data, sizeof *head);
    if (head->type == 0 || head->type >= HC_FRAME_TYPES || !frames[head->type].name)
        return hc_fail(err, 0, "frame: unknown type %d", head->type);
    if (head->flags & ~HC_FRAME_LAST || head->zero)
        return hc_fail(err, 0, "frame '%s': unknown flags", frames[head->type].name);
    if (head->len != len - sizeof *head || head->len > HC_FRAME_CHUNK)
        return hc_fail(err, 0, "frame '%s': a length of %u in a packet of %zu bytes", frames[head->type].name,
                       head->len, len);
    bool last = head->flags & HC_FRAME_LAST;
    if (!frames[head->type].payload && (head->len || !last))
        return hc_fail(err, 0, "frame '%s': must be a single frame without content", frames[head->type].name);
    /* A packet that is not the message's last must have content, or a message could have packets without end.
     */
    if (!last && !head->len)
        return hc_fail(err, 0, "frame '%s': empty, and not the last", frames[head->type].name);
    *payload = (const char *)data + sizeof *head;
    return 0;
}

bool hc_inbox_has(const struct hc_inbox *in, enum hc_frame_type type)
{
    return (in->seen & 1U << type) != 0;
}

bool hc_inbox_expects(const struct hc_inbox *in, enum hc_frame_type type)
{
    const struct frame *f = &frames[type];
    if (!(f->allowed_states & 1U << in->state) || (f->at_most_once && hc_inbox_has(in, type)))
        return false;
    return !f->asked || (in->asked & f->asked);
}

static void note_message(struct hc_inbox *in, int type)
{
    in->seen |= 1U << type;
    in->asked &= ~frames[type].asked;
    if (frames[type].next)
        in->state = frames[type].next;
}

static int feed_packet(struct hc_inbox *in, const void *data, size_t len, struct hc_error *err)
{
    struct hc_frame_head head;
    const void *payload;
    if (hc_frame_parse(data, len, &head, &payload, err) < 0)
        return -1;
    if (in->open && in->open != head.type)
        return hc_fail(err, 0, "frame '%s' inside a '%s'", frames[head.type].name, frames[in->open].name);
    if (!in->open && !hc_inbox_expects(in, head.type))
        return hc_fail(err, 0, "frame '%s': out of turn", frames[head.type].name);
    if (!in->open)
        hc_buf_clear(&in->body);
    if (head.len > in->max - in->body.len)
        return hc_fail(err, EMSGSIZE, "frame '%s': more than %zu bytes", frames[head.type].name, in->max);
    if (hc_buf_add(&in->body, payload, head.len) < 0)
        return hc_fail(err, ENOMEM, "frame '%s'", frames[head.type].name);
    bool last = head.flags & HC_FRAME_LAST;
    in->open = last ? 0 : head.type;
    if (!last)
        return 0;
    note_message(in, head.type);
    return head.type;
}

int hc_inbox_feed(struct hc_inbox *in, const void *data, size_t len, struct hc_error *err)
{
    if (in->broken)
        return hc_fail(err, 0, "frame after one that broke the protocol");
    int type = feed_packet(in, data, len, err);
    in->broken = type < 0;
    return type;
}

void hc_inbox_finish(struct hc_inbox *in)
{
    hc_buf_finish(&in->body);
    *in = (struct hc_inbox){0};
}
