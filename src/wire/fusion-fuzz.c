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

static bool put_image(void *data, const char *path, const char *mime, struct hc_buf *out)
{
    (void)data;
    (void)hc_buf_str(out, "{");
    return *path && *mime && hc_buf_str(out, "}") == 0;
}

/* A notebook, of which each cell has `text` as its result. */
static void check_notebook(const char *text, size_t len)
{
    const struct hc_fusion_rules rules = {"default", ""};
    struct hc_fusion_notebook n;
    struct hc_error err = {0};
    hc_autobuf spec = {0}, answer = {0};
    int more = 1;
    if (hc_fusion_notebook(&rules, text, len, &spec, &n, &err) == 0)
        require_json(&spec);
    else
        require(err.text[0] && err.exit && !n.cells && !n.fetch);
    for (int i = 0; i < 4 && more; i++) {
        hc_autobuf run = {0};
        more = hc_fusion_next_cell(&n, 1, &run);
        if (more)
            require_json(&run);
    }
    for (int i = 0; i < 2; i++)
        (void)hc_fusion_add_cell(&n, text, len, i ? put_image : NULL, NULL, &err);
    require(hc_fusion_notebook_answer(&n, NULL, &answer) == 0);
    require_json(&answer);
    hc_fusion_notebook_finish(&n);
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
    check_notebook(text, size);
    if (hc_fusion_answer(text, size, NULL, &answer, &err) == 0)
        require_json(&answer);
    free(text);
    return 0;
}
