/* Any bytes as a denial from the guest's process: whether it is accepted or not, the manifest can be read. */
#include "manifest/denial.h"

#include "manifest/manifest.h"
#include "policy/options.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_manifest(const struct hc_denial *d)
{
    struct hc_policy policy;
    struct hc_manifest m = {.policy = &policy};
    struct hc_json j;
    struct hc_error err;
    hc_autobuf out = {0};
    hc_policy_init(&policy);
    hc_denials_note(&m.denials, d, false);
    require(hc_manifest_print(&m, NULL, 0, &out, &err) == 0);
    require(hc_json_parse(&j, "m", out.data, out.len, &err) == 0);
    require(cJSON_GetArraySize(cJSON_GetObjectItem(j.root, "denials")) == 1);
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_denial d;
    struct hc_error err = {0};
    if (hc_denial_parse(&d, (const char *)data, len, &err) < 0) {
        require(*err.text);
        return 0;
    }
    require(!hc_refuser_attested(d.by) && *d.rule && *d.what && d.line >= 0 && d.count > 0);
    check_manifest(&d);
    return 0;
}
