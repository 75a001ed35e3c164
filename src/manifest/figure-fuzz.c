/* Any bytes as the announcement of a figure by the guest's process: an accepted one has a path of two plain
 * parts, and can be printed as one line of JSON. */
#include "manifest/figure.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_figure f;
    struct hc_error err = {0};
    struct hc_json j;
    hc_autobuf out = {0};
    if (hc_figure_parse(&f, (const char *)data, len, &err) < 0) {
        require(*err.text);
        return 0;
    }
    const char *slash = strchr(f.path, '/');
    require(strlen(f.sha256) == 64);
    require(slash && slash == strrchr(f.path, '/') && f.path[0] != '.' && slash[1] && slash[1] != '.');
    hc_figure_print(&f, &out);
    require(!memchr(out.data, '\n', out.len) && hc_json_parse(&j, "f", out.data, out.len, &err) == 0);
    require(strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(j.root, "path")), f.path) == 0);
    hc_json_finish(&j);
    return 0;
}
