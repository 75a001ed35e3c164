/* Any bytes through the patterns that ship: the result is the same whole and in pieces, and bounded. */
#include "policy/redact.h"

#include <stdlib.h>
#include <string.h>

static const char rules_text[] =
    "{\"redact\": {\"rules\": ["
    "{\"name\": \"secret\", \"ignore_case\": true, \"replace\": \"\\\\1=<R>\", \"pattern\": "
    "\"(token|secret|pwd)[\\\\s=:]+\\\\S+\"},"
    "{\"name\": \"jwt\", \"replace\": \"<J>\", \"pattern\": "
    "\"eyJ[A-Za-z0-9_-]+\\\\.eyJ[A-Za-z0-9_-]+\\\\.[A-Za-z0-9_-]+\"},"
    "{\"name\": \"behind\", \"replace\": \"<B>\", \"pattern\": \"(?<=id )\\\\d+\\\\b\"},"
    "{\"name\": \"key\", \"replace\": \"<K>\", \"pattern\": \"-----BEGIN[\\\\s\\\\S]*?-----END\"}],"
    "\"env_lines\": 2, \"max_chars\": 500, \"max_chars_note\": \"[CUT]\"}}";

static void run(const struct hc_redactor *r, const char *text, size_t len, size_t step, struct hc_buf *out)
{
    struct hc_redaction *x = hc_redaction_new(r, true);
    if (!x)
        abort();
    for (size_t at = 0; at < len; at += step)
        hc_redaction_feed(x, text + at, len - at < step ? len - at : step, out);
    hc_redaction_finish(x, false, out);
    if (hc_redaction_no_memory(x))
        abort();
    hc_redaction_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct hc_redactor *r;
    struct hc_error err;
    if (!r) {
        cJSON *rules = cJSON_Parse(rules_text);
        if (hc_redactor_new(&r, rules, &err) < 0)
            abort();
        cJSON_Delete(rules);
    }
    if (len < 2 || len > 60000)
        return 0;
    hc_autobuf whole = {0};
    hc_autobuf pieces = {0};
    run(r, (const char *)data + 1, len - 1, len, &whole);
    run(r, (const char *)data + 1, len - 1, (size_t)data[0] + 1, &pieces);
    if (whole.len != pieces.len || (whole.len && memcmp(whole.data, pieces.data, whole.len) != 0))
        abort();
    return 0;
}
