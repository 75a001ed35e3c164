/* Any bytes as JSON: they are refused; or cJSON parses them, too, and the canonical form of their canonical
 * form is that form itself. */
#include "json/json.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_forms(const char *text, size_t len, const char *brief)
{
    struct hc_error err;
    hc_autobuf once = {0}, twice = {0}, indented = {0}, thrice = {0};
    require(hc_json_canonical(text, len, NULL, &once, &err) == 0);
    require(hc_json_canonical(once.data, once.len, NULL, &twice, &err) == 0);
    require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    require(hc_json_indent(text, len, brief, &indented, &err) == 0);
    require(hc_json_canonical(indented.data, indented.len, NULL, &thrice, &err) == 0);
    require(once.len == thrice.len && memcmp(once.data, thrice.data, once.len) == 0);
}

static const cJSON *deepest(const cJSON *node)
{
    while (node->child)
        node = node->child->prev; /* the last child */
    return node;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text = (const char *)data;
    struct hc_json j;
    struct hc_error err = {0};
    hc_autobuf scrubbed = {0};
    require(hc_utf8_scrub(&scrubbed, text, len) == 0 && hc_utf8_valid(scrubbed.data, scrubbed.len, NULL));
    if (hc_json_parse(&j, "f", text, len, &err) < 0) {
        require(err.exit == HC_EXIT_DATA && !j.root);
        return 0;
    }
    check_forms(text, len, NULL);
    check_forms(text, len, "a");
    const cJSON *last = deepest(j.root);
    size_t source_len;
    const char *source = hc_json_source(&j, last, &source_len);
    require(source && source >= text && source + source_len <= text + len);
    (void)hc_json_fail(&j, last, true, &err, "x");
    hc_json_finish(&j);
    return 0;
}
