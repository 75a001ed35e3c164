#include "cell/record.h"

#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the program ---- */

/* Within a docstring: nothing can end it, begin a line, or be mistaken for anything but text. */
static void put_docstring(struct hc_buf *out, const char *text)
{
    while (*text) {
        size_t good = strlen(text);
        (void)hc_utf8_valid(text, good, &good);
        for (const char *end = text + good; text < end; text++) {
            bool plain = (unsigned char)*text >= 0x20 && *text != 0x7f && *text != '"' && *text != '\\';
            (void)(plain ? hc_buf_add(out, text, 1) : hc_buf_fmt(out, "\\x%02x", (unsigned char)*text));
        }
        if (*text)
            (void)hc_buf_fmt(out, "\\x%02x", (unsigned char)*text++);
    }
}

static void put_header(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m)
{
    size_t frames = 0;
    (void)hc_buf_fmt(out, HC_CODE_HEADER HC_VERSION ", run at %.19sZ.\n\n", m->started);
    (void)hc_buf_str(out, "To replicate this analysis locally:\n"
                          "  1. Install hotcell " HC_VERSION " and build the tree \"");
    put_docstring(out, m->policy->tree);
    (void)hc_buf_str(
        out, "\".\n"
             "  2. Keep this file, the .json file beside it, and the data named below in their places.\n"
             "  3. Run: hotcell replay THIS_FILE\n\n"
             "Pre-loaded DataFrames:\n");
    for (size_t i = 0; i < job->input_count; i++) {
        if (job->inputs[i].format == HC_INPUT_PATH)
            continue;
        (void)hc_buf_fmt(out, "  - %s: ", job->inputs[i].name);
        put_docstring(out, job->inputs[i].path);
        (void)hc_buf_str(out, "\n");
        frames++;
    }
    if (frames == 0)
        (void)hc_buf_str(out, "  (none)\n");
    (void)hc_buf_str(out, "\"\"\"\n" HC_CODE_MARKER);
}

void hc_record_code(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m)
{
    const char *code = job->code;
    size_t len = job->code_len;
    if (hc_rules_bool(m->policy->rules, "persist", "header", false)) {
        put_header(out, job, m);
        if (len >= strlen(HC_BOM) && memcmp(code, HC_BOM, strlen(HC_BOM)) == 0) {
            code += strlen(HC_BOM); /* which may only stand at the very beginning */
            len -= strlen(HC_BOM);
        }
    }
    (void)hc_buf_add(out, code, len);
}

/* ---- the outcome ---- */

static bool put(cJSON *to, const char *name, cJSON *item)
{
    if (to && item && (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item)))
        return true;
    cJSON_Delete(item);
    return false;
}

static cJSON *make_text(const char *text)
{
    hc_autobuf clean = {0};
    (void)hc_utf8_scrub(&clean, text, strlen(text));
    return clean.failed ? NULL : cJSON_CreateString(clean.data ? clean.data : "");
}

static cJSON *make_artifacts(const struct hc_artifact *list, size_t count)
{
    cJSON *out = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *entry = cJSON_CreateObject();
        bool ok = put(entry, "path", make_text(list[i].path)) &&
                  put(entry, "sha256", cJSON_CreateString(list[i].sha256));
        if (ok && put(out, NULL, entry))
            continue;
        if (!ok)
            cJSON_Delete(entry);
        cJSON_Delete(out);
        return NULL;
    }
    return out;
}

/* Objects that have no better form are shown with their address, which is another one every time. */
static void forget_addresses(struct hc_buf *text)
{
    static const char before[] = " at 0x";
    char *to = text->data, *end = text->data + text->len;
    for (char *from = text->data; from < end;) {
        bool address = (size_t)(end - from) > strlen(before) && memcmp(from, before, strlen(before)) == 0;
        *to++ = *from++;
        if (!address)
            continue;
        memmove(to, from, strlen(before) - 1);
        to += strlen(before) - 1;
        from += strlen(before) - 1;
        from += strspn(from, "0123456789abcdef");
    }
    text->len = (size_t)(to - text->data);
}

/* The hash of a member of the guest's report, in canonical form; null if it has none. */
static cJSON *make_hash(const struct hc_json *report, const char *member)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(report->root, member);
    size_t len = 0;
    const char *text = node && !cJSON_IsNull(node) ? hc_json_source(report, node, &len) : NULL;
    hc_autobuf canonical = {0};
    struct hc_error ignored;
    char hex[HC_SHA256_HEX];
    if (!text || hc_json_canonical(text, len, NULL, &canonical, &ignored) < 0)
        return cJSON_CreateNull();
    forget_addresses(&canonical);
    hc_sha256_hex(canonical.data, canonical.len, hex);
    return cJSON_CreateString(hex);
}

static bool put_report(cJSON *to, const struct hc_manifest *m)
{
    struct hc_json report = {0};
    struct hc_error ignored;
    if (m->guest)
        (void)hc_json_parse(&report, "report", m->guest, strlen(m->guest), &ignored);
    bool ok = put(to, "value", make_hash(&report, "value")) &&
              put(to, "results", make_hash(&report, "results")) &&
              put(to, "returned", make_hash(&report, "returned"));
    hc_json_finish(&report);
    return ok;
}

static cJSON *make_stream(const struct hc_stream *s)
{
    cJSON *out = cJSON_CreateObject();
    char hex[HC_SHA256_HEX];
    hc_sha256_hex(s->text.data ? s->text.data : "", s->text.len, hex);
    if (put(out, "bytes", cJSON_CreateNumber((double)s->bytes)) &&
        put(out, "sha256", cJSON_CreateString(hex)))
        return out;
    cJSON_Delete(out);
    return NULL;
}

cJSON *hc_record_outcome(const struct hc_manifest *m)
{
    cJSON *out = cJSON_CreateObject();
    if (put(out, "status", cJSON_CreateString(hc_status_name(m->status))) &&
        put(out, "exit_code", cJSON_CreateNumber(hc_status_exit(m->status))) &&
        put(out, "stdout", make_stream(&m->out)) && put_report(out, m) &&
        put(out, "figures", make_artifacts(m->figures, m->figure_count)) &&
        put(out, "files", make_artifacts(m->files, m->file_count)))
        return out;
    cJSON_Delete(out);
    return NULL;
}

/* ---- the record ---- */

static bool put_inputs(cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = cJSON_AddArrayToObject(root, "inputs");
    for (size_t i = 0; i < m->input_count; i++) {
        cJSON *entry = cJSON_CreateObject();
        if (!put(entry, "name", cJSON_CreateString(m->inputs[i].name)) ||
            !put(entry, "bytes", cJSON_CreateNumber((double)m->inputs[i].bytes)) ||
            !put(entry, "sha256", cJSON_CreateString(m->inputs[i].sha256))) {
            cJSON_Delete(entry);
            return false;
        }
        if (!put(list, NULL, entry))
            return false;
    }
    return list != NULL;
}

/* As the next run will find it, from wherever it is started. */
static bool put_path(cJSON *to, const struct hc_input *in)
{
    char *path = realpath(in->path, NULL);
    const char *text = path ? path : in->path;
    bool ok = put(to, in->name, make_text(text));
    free(path);
    return ok;
}

static bool put_return(cJSON *to, const struct hc_return *r)
{
    hc_autobuf text = {0};
    (void)hc_buf_fmt(&text, "%s=%s", r->name, r->format);
    return !text.failed && put(to, NULL, cJSON_CreateString(text.data));
}

static bool put_spec(cJSON *root, const struct hc_job *job)
{
    cJSON *spec = cJSON_AddObjectToObject(root, "spec");
    cJSON *inputs = cJSON_AddObjectToObject(spec, "inputs");
    cJSON *returns = cJSON_AddArrayToObject(spec, "return");
    bool ok = inputs && returns;
    for (size_t i = 0; ok && i < job->input_count; i++)
        ok = put_path(inputs, &job->inputs[i]);
    for (size_t i = 0; ok && i < job->return_count; i++)
        ok = put_return(returns, &job->returns[i]);
    if (ok && job->vars_text)
        ok = put(spec, "vars", cJSON_CreateRaw(job->vars_text));
    if (ok && job->has_seed)
        ok = put(spec, "seed", cJSON_CreateNumber(job->seed));
    if (ok && job->tenant)
        ok = put(spec, "tenant", cJSON_CreateString(job->tenant));
    return ok;
}

static bool put_identity(cJSON *root, const char *name, double bytes, const char *called, const char *sha256)
{
    cJSON *o = cJSON_AddObjectToObject(root, name);
    bool ok = called ? put(o, "name", make_text(called)) : put(o, "bytes", cJSON_CreateNumber(bytes));
    return ok && put(o, "sha256", cJSON_CreateString(sha256));
}

int hc_record_print(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m,
                    struct hc_error *err)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = put(root, "version", cJSON_CreateNumber(HC_RECORD_VERSION)) &&
              put(root, "hotcell", cJSON_CreateString(HC_VERSION)) &&
              put(root, "job_id", cJSON_CreateString(m->job_id)) &&
              put(root, "started", cJSON_CreateString(m->started)) &&
              put_identity(root, "code", (double)m->code_bytes, NULL, m->code_sha256) &&
              put_identity(root, "tree", 0, m->policy->tree, m->tree_sha256) && put_inputs(root, m) &&
              put_spec(root, job) && put(root, "policy", hc_policy_to_json(m->policy)) &&
              put(root, "outcome", hc_record_outcome(m));
    char *text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    int rc = text ? hc_json_indent(text, strlen(text), NULL, out, err) : hc_fail(err, 0, "write the record");
    cJSON_free(text);
    return rc;
}
