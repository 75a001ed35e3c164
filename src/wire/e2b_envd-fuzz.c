/* Calls of E2B's daemon in sandboxes, which strangers send: what is taken becomes well-formed JSON. */
#include "wire/e2b_envd.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_json(const struct hc_buf *b)
{
    cJSON *json = cJSON_ParseWithLength(b->data ? b->data : "", b->len);
    require(json != NULL);
    cJSON_Delete(json);
}

static void check_call(const char *text, size_t len)
{
    struct hc_e2b_call call;
    struct hc_error err = {0};
    hc_autobuf ask = {0};
    if (hc_e2b_take_call(&call, text, len, &err) == 0) {
        require(call.depth >= 1 && call.path.len);
        hc_e2b_put_ask("move_file", call.path.data, call.to.data, ", \"all\": true", &ask);
        require_json(&ask);
    } else
        require(err.text[0]);
    hc_e2b_call_finish(&call);
}

/* No part reaches out of the body, and each moves on. */
static void check_parts(const char *text, size_t len)
{
    struct hc_e2b_part part;
    for (size_t at = 0, before = 0; hc_e2b_next_part(text, len, "b", &at, &part) > 0; before = at) {
        require(at > before && at <= len && part.data >= text && part.data + part.len <= text + len);
        require(strlen(part.filename) < sizeof part.filename);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1), boundary[80];
    size_t len = 0;
    hc_autobuf entry = {0}, written = {0}, path = {0};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_call(text, size);
    check_parts(text, size);
    (void)hc_e2b_boundary(text, boundary);
    const char *inner = hc_e2b_unwrap(text, size, &len);
    if (inner) {
        require(inner + len == text + size);
        check_call(inner, len);
    }
    hc_e2b_path(text, &path);
    cJSON *file = cJSON_ParseWithLength(text, size);
    if (file) {
        hc_e2b_put_entry(file, "d", &entry);
        require_json(&entry);
        hc_e2b_put_written(file, &written);
        require_json(&written);
    }
    cJSON_Delete(file);
    free(text);
    return 0;
}
