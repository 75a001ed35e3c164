#include "shim/harness/reject.h"

#include "shim/harness/text.h"
#include "shim/harness/wire.h"
#include "spec/handover.h"

#include <unistd.h>

#define LONGEST 8192 /* bytes of message: far more than a manifest keeps */

static void add_number(struct hc_buf *out, const char *key, int n)
{
    if (n > 0)
        (void)hc_buf_fmt(out, ",\"%s\":%d", key, n);
    else
        (void)hc_buf_fmt(out, ",\"%s\":null", key);
}

_Noreturn void hc_reject(const struct hc_rejection *why)
{
    struct hc_buf out = {0};
    (void)hc_buf_fmt(&out, "{\"rule\":\"%s\",\"message\":", why->rule);
    if (why->message && PyUnicode_Check(why->message))
        (void)hc_json_str(&out, why->message, LONGEST);
    else
        (void)hc_buf_str(&out, "\"\"");
    add_number(&out, "line", why->line);
    add_number(&out, "column", why->column);
    (void)hc_buf_str(&out, ",\"hint\":");
    if (why->hint)
        (void)hc_json_cstr(&out, why->hint, LONGEST);
    else
        (void)hc_buf_str(&out, "null");
    (void)hc_buf_str(&out, "}");
    struct hc_error err;
    if (out.failed || hc_wire_send(HC_FD_CONTROL, HC_FRAME_REJECTED, out.data, out.len, &err) < 0)
        _exit(HC_EXIT_INTERNAL);
    _exit(HC_EXIT_REJECTED);
}
