/* Any bytes as the findings about a program: whether they are accepted or not, the manifest can be read; and
 * any bytes as a program whose lines are shown. */
#include "manifest/finding.h"

#include "json/lines.h"
#include "manifest/manifest.h"
#include "policy/options.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_manifest(struct hc_manifest *m)
{
    struct hc_policy policy;
    struct hc_json j;
    struct hc_error err;
    hc_autobuf out = {0};
    hc_policy_init(&policy);
    m->policy = &policy;
    require(hc_manifest_print(m, NULL, 0, &out, &err) == 0);
    require(hc_json_parse(&j, "m", out.data, out.len, &err) == 0);
    hc_json_finish(&j);
}

static void show_lines(const char *data, size_t len)
{
    struct hc_lines lines;
    struct hc_span at = {0};
    hc_autobuf out = {0};
    char *text = strndup(data, len);
    require(text && hc_lines_init(&lines, text) == 0);
    memcpy(&at, text, strlen(text) < sizeof at ? strlen(text) : sizeof at);
    hc_lines_show(&lines, at, &out);
    at = hc_lines_place(&lines, at.line, at.column, at.line, at.end_column);
    (void)hc_lines_word(&lines, at.line, at.column, "x");
    (void)hc_lines_word_before(&lines, at.line, at.end_column, "x");
    hc_lines_show(&lines, hc_lines_count_characters(&lines, at), &out);
    require(!out.failed && out.len < 2000);
    hc_lines_finish(&lines);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_manifest m = {0};
    struct hc_error err = {0};
    const char *text = (const char *)data;
    show_lines(text, len);
    m.rejection.set = hc_rejected_parse(&m.rejection.findings, &m.rejection.more, text, len, &err) == 0;
    bool checked = hc_checked_parse(&m.check, text, len, &err) == 0;
    require(*err.text && !(m.rejection.set && checked));
    if (m.rejection.set || checked)
        check_manifest(&m);
    hc_manifest_finish(&m);
    return 0;
}
