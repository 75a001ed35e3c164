#include "batch/under.h"

#include "base/utf8.h"
#include "json/diff.h"

#include <string.h>

#define NAMED 4  /* most differences that a message names */
#define SHOWN 40 /* most bytes of a value in a message */

/* The text that is made, and the number of differences so far. */
struct telling {
    struct hc_buf *out;
    int count;
};

static void put_value(struct hc_buf *out, const cJSON *value)
{
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    const char *shown = text ? text : "not set";
    const size_t len = strnlen(shown, SHOWN), whole = len - hc_utf8_unfinished(shown, len);
    (void)hc_buf_add(out, shown, whole);
    (void)hc_buf_str(out, shown[whole] ? "..." : "");
    cJSON_free(text);
}

static void tell(void *ctx, const struct hc_json_change *c)
{
    struct telling *t = ctx;
    if (t->count++ >= NAMED)
        return;
    (void)hc_buf_fmt(t->out, "%s%s: ", t->count > 1 ? ", " : "", c->path);
    if (c->reordered) {
        (void)hc_buf_str(t->out, "in another order");
        return;
    }
    if (c->item) {
        (void)hc_buf_str(t->out, c->from ? "without " : "with ");
        put_value(t->out, c->from ? c->from : c->to);
        return;
    }
    put_value(t->out, c->from);
    (void)hc_buf_str(t->out, " -> ");
    put_value(t->out, c->to);
}

bool hc_under_differs(const char *was, const char *is, struct hc_buf *out)
{
    struct telling t = {.out = out};
    cJSON *a = cJSON_Parse(was), *b = cJSON_Parse(is);
    if (a && b)
        (void)hc_json_diff(a, b, tell, &t);
    cJSON_Delete(a);
    cJSON_Delete(b);
    if (t.count > NAMED)
        (void)hc_buf_fmt(out, " and %d more", t.count - NAMED);
    return t.count > 0;
}
