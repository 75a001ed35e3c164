/* The text of a manifest, and its signature. */
#include "manifest/manifest_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char algorithm[] = "HMAC-SHA256";

static int sign_text(const char *text, size_t len, const void *key, size_t key_len, char hex[HC_SHA256_HEX],
                     struct hc_error *err)
{
    hc_autobuf canonical = {0};
    if (hc_json_canonical(text, len, "signature", &canonical, err) < 0)
        return -1;
    hc_hmac_hex(key, key_len, canonical.data, canonical.len, hex);
    return 0;
}

static char *print_unsigned(const cJSON *root)
{
    return root ? cJSON_PrintUnformatted(root) : NULL;
}

static int put_signature(cJSON *root, const void *key, size_t key_len, struct hc_error *err)
{
    struct hc_doc d = {.ok = true};
    if (!key) {
        hc_doc_null(&d, root, "signature");
        return d.ok ? 0 : hc_fail(err, ENOMEM, "manifest");
    }
    char hex[HC_SHA256_HEX];
    char *text = print_unsigned(root);
    int rc = text ? sign_text(text, strlen(text), key, key_len, hex, err) : hc_fail(err, ENOMEM, "manifest");
    free(text);
    if (rc < 0)
        return -1;
    cJSON *signature = hc_doc_object(&d, root, "signature");
    hc_doc_text(&d, signature, "algorithm", algorithm);
    hc_doc_text(&d, signature, "value", hex);
    return d.ok ? 0 : hc_fail(err, ENOMEM, "manifest");
}

int hc_manifest_indent(const char *text, size_t len, struct hc_buf *out, struct hc_error *err)
{
    return hc_json_indent(text, len, "guest", out, err);
}

static int print_indented(const cJSON *root, struct hc_buf *out, struct hc_error *err)
{
    char *text = print_unsigned(root);
    if (!text)
        return hc_fail(err, ENOMEM, "manifest");
    int rc = hc_manifest_indent(text, strlen(text), out, err);
    free(text);
    return rc;
}

static int print_plain(const cJSON *root, struct hc_buf *out, struct hc_error *err)
{
    char *text = print_unsigned(root);
    int rc = text ? hc_buf_str(out, text) : -1;
    free(text);
    return rc < 0 ? hc_fail(err, ENOMEM, "manifest") : 0;
}

static int print_signed(const struct hc_manifest *m, const void *key, size_t key_len, bool indented,
                        struct hc_buf *out, struct hc_error *err)
{
    cJSON *root = hc_manifest_document(m);
    if (!root)
        return hc_fail(err, ENOMEM, "manifest");
    int rc = put_signature(root, key, key_len, err);
    if (rc == 0)
        rc = indented ? print_indented(root, out, err) : print_plain(root, out, err);
    cJSON_Delete(root);
    return rc < 0 ? hc_exit_as(err, HC_EXIT_INTERNAL) : 0;
}

int hc_manifest_print(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                      struct hc_error *err)
{
    return print_signed(m, key, key_len, true, out, err);
}

int hc_manifest_print_plain(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                            struct hc_error *err)
{
    return print_signed(m, key, key_len, false, out, err);
}

static void put_full_path(struct hc_doc *d, cJSON *list, const char *dir, const char *path)
{
    hc_autobuf full = {0};
    size_t len = strlen(dir);
    (void)hc_buf_fmt(&full, "%s%s%s", dir, len && dir[len - 1] == '/' ? "" : "/", path);
    if (full.failed)
        d->ok = false;
    else
        (void)hc_doc_name(d, list, NULL, full.data);
}

int hc_manifest_print_runner(const struct hc_manifest *m, const char *dir, struct hc_buf *out,
                             struct hc_error *err)
{
    struct hc_doc d = {.ok = true};
    cJSON *root = cJSON_CreateObject();
    hc_doc_number(&d, root, "exit_code", m->exit_code);
    cJSON *figures = hc_doc_list(&d, root, "figure_paths");
    for (size_t i = 0; i < m->figure_count; i++)
        put_full_path(&d, figures, dir, m->figures[i].path);
    cJSON *code = hc_doc_list(&d, root, "code_paths");
    if (m->code_path)
        put_full_path(&d, code, dir, m->code_path);
    hc_doc_bool(&d, root, "truncated", m->out.truncated || m->out.shortened);
    int rc = d.ok ? print_indented(root, out, err) : hc_fail(err, ENOMEM, "manifest");
    cJSON_Delete(root);
    return rc < 0 ? hc_exit_as(err, HC_EXIT_INTERNAL) : 0;
}

int hc_manifest_verify(const struct hc_json *j, const void *key, size_t key_len, struct hc_error *err)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(j->root, "version");
    const cJSON *signature = cJSON_GetObjectItemCaseSensitive(j->root, "signature");
    if (!cJSON_IsObject(j->root) || !cJSON_IsNumber(version) || !signature)
        return hc_json_fail(j, j->root, false, err, "not a manifest");
    if (version->valuedouble != HC_MANIFEST_VERSION)
        return hc_json_fail(j, version, false, err,
                            "a manifest of version %.15g; this program knows version %d",
                            version->valuedouble, HC_MANIFEST_VERSION);
    if (cJSON_IsNull(signature))
        return hc_fail_as(err, HC_EXIT_GUEST, 0, "%s: not signed", j->name);
    const cJSON *how = cJSON_GetObjectItemCaseSensitive(signature, "algorithm");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(signature, "value");
    if (!cJSON_IsString(how) || !cJSON_IsString(value) || strcmp(how->valuestring, algorithm) != 0)
        return hc_json_fail(j, signature, false, err, "signature: expected an %s value", algorithm);
    char hex[HC_SHA256_HEX];
    if (sign_text(j->text, j->len, key, key_len, hex, err) < 0)
        return -1;
    if (!hc_digest_equal(hex, value->valuestring))
        return hc_fail_as(err, HC_EXIT_GUEST, 0,
                          "%s: the signature does not match: another key, or it was changed", j->name);
    return 0;
}
