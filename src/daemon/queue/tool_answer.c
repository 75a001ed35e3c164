/* Makes a line for the launcher from a client's answer to a tool call. Does no input or output. */
#include "daemon/queue/tool_link.h"

#include "base/units.h"
#include "job/tool_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TOO_LONG 3 /* result of hc_tool_answer_line: the value is longer than the tool's results may be */

static void put_error(struct hc_buf *out, const struct hc_open_call *call, const char *text)
{
    (void)hc_tool_answer_error(out, call->id, text);
    (void)hc_buf_str(out, "\n");
}

/* Refuses a result that is too long; the program and the client get the same message. */
static int refuse_long_result(struct hc_buf *out, const struct hc_open_call *call, size_t len,
                              struct hc_error *err)
{
    char most[32];
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "the result has %zu bytes, more than the tool's result_size, %s",
                     len, hc_format_size(call->most, most, sizeof most));
    put_error(out, call, err->text);
    return TOO_LONG;
}

static int put_value(struct hc_buf *out, const struct hc_open_call *call, const struct hc_json *j,
                     const cJSON *value, struct hc_error *err)
{
    size_t len = 0;
    const char *source = hc_json_source(j, value, &len);
    if (!source)
        return hc_fail(err, ENOMEM, "answer");
    if (len > call->most)
        return refuse_long_result(out, call, len, err);
    (void)hc_buf_fmt(out, "{\"id\": %u, \"value\": ", call->id);
    hc_json_one_line(out, source, len);
    (void)hc_buf_str(out, "}\n");
    return 0;
}

int hc_tool_answer_line(struct hc_buf *out, const struct hc_open_call *call, const char *text, size_t len,
                        struct hc_error *err)
{
    struct hc_json j;
    char message[256];
    int rc = 0;
    if (hc_json_parse(&j, "answer", text, len, err) < 0)
        return -1;
    const cJSON *member = cJSON_IsObject(j.root) ? j.root->child : NULL;
    bool alone = member && !member->next;
    if (alone && strcmp(member->string, "value") == 0) {
        rc = put_value(out, call, &j, member, err);
    } else if (alone && strcmp(member->string, "error") == 0 && cJSON_IsString(member)) {
        hc_tool_clean(message, sizeof message, member->valuestring, strlen(member->valuestring));
        put_error(out, call, message);
    } else {
        rc = hc_json_fail(&j, j.root, false, err,
                          "expected an object with \"value\", or with \"error\" and a text");
    }
    hc_json_finish(&j);
    return rc >= 0 && out->failed ? hc_fail(err, ENOMEM, "answer") : rc;
}
