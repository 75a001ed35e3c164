/* Any bytes as a manifest to verify; and any bytes as the report of a guest: a manifest with this report can
 * always be signed, read back and verified. */
#include "manifest/manifest.h"

#include "policy/options.h"

#include <stdlib.h>
#include <string.h>

static const char key[] = "a key";

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_report(const char *text, size_t len)
{
    struct hc_policy policy;
    struct hc_manifest m = {.policy = &policy};
    struct hc_json j;
    struct hc_error err;
    hc_autobuf out = {0};
    hc_policy_init(&policy);
    m.guest = strndup(text, len);
    (void)hc_buf_add(&m.out.text, text, len);
    m.code_path = strndup(text, len < 200 ? len : 200);
    require(hc_manifest_print(&m, key, sizeof key, &out, &err) == 0);
    require(hc_json_parse(&j, "m", out.data, out.len, &err) == 0);
    require(hc_manifest_verify(&j, key, sizeof key, &err) == 0);
    require(strcmp(cJSON_GetObjectItem(j.root, "status")->valuestring, "ok") == 0);
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_json j;
    struct hc_error err;
    check_report((const char *)data, len);
    if (hc_json_parse(&j, "m", (const char *)data, len, &err) < 0)
        return 0;
    (void)hc_manifest_verify(&j, key, sizeof key, &err);
    hc_json_finish(&j);
    return 0;
}
