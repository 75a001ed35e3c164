/* Any bytes as a description of tools, and behind a line end as a call: refused, or its own again once
 * printed, and what a tool is given is one line of sound JSON. */
#include "job/tool_call.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static int resolve(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                   struct hc_error *err)
{
    (void)ctx;
    (void)path;
    *out = strdup(value);
    return *out ? 0 : hc_fail(err, 0, "no memory");
}

static void try_call(const struct hc_tools *tools, const char *text, size_t len)
{
    struct hc_tool_call call;
    struct hc_error err = {0};
    hc_autobuf out = {0};
    bool by_path;
    if (hc_tool_call_parse(&call, text, len, &err) < 0) {
        require(*err.text);
        return;
    }
    const struct hc_tool *tool = hc_tools_find(tools, call.name);
    if (tool && hc_tool_arguments(tool, &call, resolve, NULL, &out, &by_path, &err) == 0) {
        struct hc_json j;
        require(!memchr(out.data, '\n', out.len));
        require(hc_json_parse(&j, "arguments", out.data, out.len, &err) == 0 && cJSON_IsObject(j.root));
        hc_json_finish(&j);
    }
    hc_tool_call_finish(&call);
}

static bool read_tools(struct hc_tools *tools, const char *text, size_t len)
{
    struct hc_json j;
    struct hc_error err = {0};
    if (hc_json_parse(&j, "tools", text, len, &err) < 0)
        return false;
    int rc = hc_tools_read(tools, &j, j.root, true, &err);
    hc_json_finish(&j);
    require(rc == 0 || *err.text);
    return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_tools tools = {0}, again = {0};
    const char *text = (const char *)data, *cut = len ? memchr(text, '\n', len) : NULL;
    size_t first = cut ? (size_t)(cut - text) : len;
    hc_autobuf line = {0};
    (void)hc_buf_add(&line, text, first);
    (void)hc_tools_add_command(&again, line.data ? line.data : "", &(struct hc_error){0});
    hc_tools_finish(&again);
    bool sound = read_tools(&tools, text, first);
    if (sound) {
        cJSON *json = hc_tools_to_json(&tools), *shim = hc_tools_for_shim(&tools);
        char *printed = cJSON_PrintUnformatted(json);
        require(printed && shim && read_tools(&again, printed, strlen(printed)) &&
                again.count == tools.count);
        free(printed);
        cJSON_Delete(json);
        cJSON_Delete(shim);
    }
    if (sound && cut)
        try_call(&tools, cut + 1, len - first - 1);
    hc_tools_finish(&tools);
    hc_tools_finish(&again);
    return 0;
}
