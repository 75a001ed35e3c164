#include "shim/harness/reject.h"

#include "shim/harness/text.h"
#include "shim/harness/wire.h"
#include "wire/handover.h"

#include <unistd.h>

static void send_or_exit(enum hc_frame_type type, const struct hc_buf *text)
{
    struct hc_error err;
    if (text->failed || hc_wire_send(HC_FD_CONTROL, type, text->data, text->len, &err) < 0)
        _exit(HC_EXIT_INTERNAL);
}

void hc_send_rejected(const struct hc_findings *found)
{
    hc_autobuf out = {0};
    (void)hc_buf_str(&out, "{\"findings\":");
    hc_findings_json(found, false, &out);
    (void)hc_buf_fmt(&out, ",\"more\":%zu}", found->more);
    send_or_exit(HC_FRAME_REJECTED, &out);
}

_Noreturn void hc_reject_findings(const struct hc_findings *found)
{
    hc_send_rejected(found);
    _exit(HC_EXIT_REJECTED);
}

void hc_rejection_finding(const struct hc_rejection *why, struct hc_finding *out)
{
    const char *message =
        why->message && PyUnicode_Check(why->message) ? PyUnicode_AsUTF8(why->message) : NULL;
    PyErr_Clear(); /* a lone surrogate cannot be written in UTF-8 */
    *out = (struct hc_finding){
        .rule = why->rule, .hint = why->hint, .at = {.line = why->line, .column = why->column}};
    (void)snprintf(out->message, sizeof out->message, "%s", message ? message : "");
}

_Noreturn void hc_reject(const struct hc_rejection *why)
{
    struct hc_finding one;
    hc_rejection_finding(why, &one);
    hc_reject_findings(&(struct hc_findings){.items = &one, .count = 1});
}

void hc_send_checked(const struct hc_findings *found)
{
    hc_autobuf out = {0};
    (void)hc_buf_str(&out, "{\"warnings\":");
    hc_findings_json(found, true, &out);
    (void)hc_buf_fmt(&out, ",\"columns\":%s}", found->columns.len ? found->columns.data : "{}");
    send_or_exit(HC_FRAME_CHECKED, &out);
}
