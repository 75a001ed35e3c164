#include "daemon/queue/hold.h"

#include "base/clock.h"

#include "daemon/queue/task.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

void hc_hold_set(struct hc_tenant *t, const char *by, const char *reason, int64_t now)
{
    struct hc_hold *h = &t->hold;
    if (!by) {
        *h = (struct hc_hold){0};
        return;
    }
    h->since = h->since ? h->since : now;
    (void)snprintf(h->by, sizeof h->by, "%s", by);
    if (*reason) /* an order without a reason keeps the earlier reason */
        (void)snprintf(h->reason, sizeof h->reason, "%s", reason);
}

const char *hc_hold_text(const struct hc_tenant *t, char out[HC_HOLD_TEXT])
{
    const struct hc_hold *h = &t->hold;
    char since[40];
    *out = '\0';
    if (!hc_is_held(h))
        return out;
    (void)snprintf(out, HC_HOLD_TEXT, "held since %s by %s%s%s", hc_format_time(h->since, false, since),
                   h->by, *h->reason ? ": " : "", h->reason);
    return out;
}

void hc_hold_print(const struct hc_tenant *t, struct hc_buf *out)
{
    const struct hc_hold *h = &t->hold;
    if (!hc_is_held(h)) {
        (void)hc_buf_str(out, "null");
        return;
    }
    (void)hc_buf_fmt(out, "{\"by\": \"%s\"", h->by);
    hc_task_print_time(out, "since", h->since);
    (void)hc_buf_str(out, ", \"reason\": ");
    if (*h->reason)
        hc_json_quote(out, h->reason, strlen(h->reason));
    else
        (void)hc_buf_str(out, "null");
    (void)hc_buf_str(out, "}");
}
