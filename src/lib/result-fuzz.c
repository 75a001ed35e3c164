/* Any text as a manifest and as a spec: what is taken can be asked about, and a spec is printed as JSON on
 * one line. */
#include "lib/parts.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_result(const char *text)
{
    struct hc_error err;
    struct hotcell_error error;
    hotcell_result *r;
    size_t len;
    void *data;
    if (hc_lib_result_new(&r, strdup(text), strdup("/nonexistent"), NULL, &err) < 0)
        return;
    require(hotcell_result_status(r) && hotcell_result_reason(r) && hotcell_result_state(r));
    require(hotcell_result_stdout(r, &len) && hotcell_result_stderr(r, NULL));
    require(hotcell_result_member(r, "status"));
    (void)hotcell_result_exit_code(r);
    for (size_t i = 0; i < hotcell_result_file_count(r) && i < 4; i++) {
        require(hotcell_result_file_path(r, i) && hotcell_result_file_sha256(r, i));
        require(hotcell_result_read_file(NULL, r, i, &data, &len, &error) < 0 && !data);
    }
    hotcell_result_free(r);
}

static void check_spec(const char *text, size_t len)
{
    struct hc_error err;
    struct hc_json json;
    hc_autobuf out = {0};
    hotcell_spec *spec = hotcell_spec_parse(text, len, NULL);
    if (!spec)
        return;
    (void)hotcell_spec_limit(spec, "timeout", "1s", NULL);
    (void)hotcell_spec_var(spec, "x", text, NULL);
    require(hc_lib_print_spec(spec, false, &out, &err) == 0 && !strchr(out.data, '\n'));
    require(hc_json_parse(&json, "spec", out.data, out.len, &err) == 0 || strstr(err.text, "nest") ||
            out.len > 100000);
    hc_json_finish(&json);
    hotcell_spec_free(spec);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_result(text);
    check_spec(text, size);
    free(text);
    return 0;
}
