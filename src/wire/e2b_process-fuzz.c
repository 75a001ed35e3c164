/* Calls about processes, which strangers send, and events of commands, parts of which are the guest's word:
 * what is taken becomes well-formed JSON. */
#include "wire/e2b_process.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_json(const char *text, size_t len)
{
    cJSON *json = cJSON_ParseWithLength(text, len);
    require(json != NULL);
    cJSON_Delete(json);
}

static void check_calls(const char *text, size_t len)
{
    struct hc_e2b_start start;
    struct hc_e2b_about about;
    struct hc_error err = {0};
    hc_autobuf out = {0};
    if (hc_e2b_take_start(&start, text, len, &err) == 0) {
        require_json(start.spec.data, start.spec.len);
        require(cJSON_GetArraySize(start.argv) > 0);
    } else
        require(err.text[0] && err.exit);
    hc_e2b_start_finish(&start);
    require((hc_e2b_take_about(&about, text, len, &err) == 0) == (about.members && about.pid > 0) ||
            err.text[0]);
    cJSON_Delete(about.members);
    hc_e2b_put_process(1, text, &out);
    require_json(out.data, out.len);
}

/* Each message has the length that its head says. */
static void check_messages(const struct hc_buf *out)
{
    const unsigned char *at = (const unsigned char *)out->data;
    for (size_t left = out->len; left;) {
        require(left >= 5);
        const size_t len = (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | at[4];
        require(len <= left - 5);
        require_json((const char *)at + 5, len);
        at += len + 5;
        left -= len + 5;
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    hc_autobuf out = {0};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_calls(text, size);
    (void)hc_e2b_process_event(text, size, &out);
    check_messages(&out);
    free(text);
    return 0;
}
