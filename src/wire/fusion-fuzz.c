/* Any request in SandboxFusion's form, and any manifest: what is taken makes a spec that is JSON, what is
 * refused has a reason, and an answer is JSON. */
#include "wire/fusion.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_json(const struct hc_buf *text)
{
    struct hc_json json;
    struct hc_error err;
    require(hc_json_parse(&json, "text", text->data, text->len, &err) == 0);
    hc_json_finish(&json);
}

static void check_request(const char *text, size_t len, const char *commands)
{
    const struct hc_fusion_rules rules = {"default", commands};
    struct hc_error err = {0};
    hc_autobuf spec = {0};
    cJSON *fetch;
    if (hc_fusion_spec(&rules, text, len, &spec, &fetch, &err) == 0)
        require_json(&spec);
    else
        require(err.text[0] && err.exit && !fetch);
    cJSON_Delete(fetch);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    struct hc_error err = {0};
    hc_autobuf answer = {0};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_request(text, size, "");
    check_request(text, size, "shell");
    if (hc_fusion_answer(text, size, NULL, &answer, &err) == 0)
        require_json(&answer);
    free(text);
    return 0;
}
