#include "manifest/redact_manifest.h"

#include <stdlib.h>
#include <string.h>

static int redact_bytes(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out)
{
    hc_redaction_feed(x, text, len, out);
    hc_redaction_finish(x, false, out);
    return hc_redaction_no_memory(x) ? -1 : 0;
}

/* Redact the text in an array of `size` bytes; a result that does not fit is cut. */
static int redact_text(struct hc_redaction *x, char *text, size_t size)
{
    hc_autobuf clean = {0};
    int rc = redact_bytes(x, text, strlen(text), &clean);
    (void)snprintf(text, size, "%s", rc == 0 && clean.data ? clean.data : "");
    return rc;
}

/* Redact all strings of a JSON value; on failure the value is removed. */
static int redact_json(struct hc_redaction *x, cJSON **json)
{
    hc_autobuf clean = {0};
    char *text = *json ? cJSON_PrintUnformatted(*json) : NULL;
    cJSON *changed = NULL;
    if (!*json)
        return 0;
    if (text && hc_redaction_json(x, text, strlen(text), &clean) == 0)
        changed = cJSON_ParseWithLength(clean.data, clean.len);
    cJSON_free(text);
    cJSON_Delete(*json);
    *json = changed;
    return changed ? 0 : -1;
}

static int redact_report(struct hc_redaction *x, char **report)
{
    hc_autobuf clean = {0};
    if (!*report)
        return 0;
    int rc = hc_redaction_json(x, *report, strlen(*report), &clean);
    free(*report);
    *report = rc == 0 ? hc_buf_take(&clean) : NULL;
    return *report ? 0 : -1;
}

static int redact_denials(struct hc_redaction *x, struct hc_denials *denials)
{
    int rc = 0;
    for (size_t i = 0; i < denials->count; i++) {
        struct hc_denial *d = &denials->items[i];
#define HC_DENIAL_TEXT(member, bytes, may_lack, redacted, ...)                                               \
    if (redacted)                                                                                            \
        rc |= redact_text(x, d->member, sizeof d->member);
#include "manifest/denial.def"
    }
    return rc;
}

static int redact_calls(struct hc_redaction *x, struct hc_tool_log *log)
{
    int rc = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct hc_tool_entry *e = &log->items[i];
        hc_autobuf clean = {0};
        size_t len = e->arguments ? strlen(e->arguments) : 0;
        hc_redaction_feed(x, e->arguments ? e->arguments : "", len, &clean);
        hc_redaction_finish(x, (int64_t)len < e->argument_bytes, &clean);
        rc |= hc_redaction_no_memory(x) ? -1 : 0;
        free(e->arguments);
        e->arguments = rc == 0 && clean.data ? hc_buf_take(&clean) : NULL;
        rc |= redact_text(x, e->message, sizeof e->message);
    }
    return rc;
}

int hc_manifest_redact(struct hc_manifest *m, const struct hc_redactor *redactor)
{
    struct hc_redaction *x = hc_redaction_new(redactor, false);
    int rc = 0;
    if (!x) {
        free(m->guest);
        m->guest = NULL;
        return -1;
    }
    rc |= redact_text(x, m->reason, sizeof m->reason);
    rc |= redact_text(x, m->rejection.message, sizeof m->rejection.message);
    rc |= redact_text(x, m->rejection.hint, sizeof m->rejection.hint);
    for (size_t i = 0; i < m->warning_count; i++)
        rc |= redact_text(x, m->warnings[i], sizeof m->warnings[i]);
    rc |= redact_json(x, &m->rejection.findings);
    rc |= redact_json(x, &m->check);
    rc |= redact_report(x, &m->guest);
    rc |= redact_denials(x, &m->denials);
    rc |= redact_calls(x, &m->tools);
    hc_redaction_free(x);
    return rc;
}
