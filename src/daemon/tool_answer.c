/* What a client answers to a tool call: bytes only. */
#include "daemon/tool_link.h"

#include "spec/json.h"

#include <errno.h>
#include <string.h>

int hc_tool_answer_line(struct hc_buf *out, uint32_t id, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    if (hc_json_parse(&j, "answer", text, len, err) < 0)
        return -1;
    const cJSON *member = cJSON_IsObject(j.root) ? j.root->child : NULL;
    bool is_value = member && strcmp(member->string, "value") == 0;
    bool fits = member && !member->next &&
                (is_value || (strcmp(member->string, "error") == 0 && cJSON_IsString(member)));
    int rc = fits ? 0
                  : hc_json_fail(&j, j.root, false, err,
                                 "expected an object with \"value\", or with \"error\" and a text");
    size_t source_len = 0;
    const char *source = fits ? hc_json_source(&j, member, &source_len) : NULL;
    if (fits) {
        (void)hc_buf_fmt(out, "{\"id\": %u, \"%s\": ", id, member->string);
        hc_json_one_line(out, source ? source : "", source ? source_len : 0);
        (void)hc_buf_str(out, "}\n");
        if (!source || out->failed)
            rc = hc_fail(err, ENOMEM, "answer");
    }
    hc_json_finish(&j);
    return rc;
}
