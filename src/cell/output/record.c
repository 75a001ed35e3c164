#include "cell/record.h"

#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the program ---- */

/* Append text within a docstring, escaped so that it can neither end the docstring nor begin a line. */
static void append_docstring(struct hc_buf *out, const char *text)
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

static void append_header(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m)
{
    size_t frames = 0;
    (void)hc_buf_fmt(out, HC_CODE_HEADER HC_VERSION ", run at %.19sZ.\n\n", m->started);
    (void)hc_buf_str(out, "To replicate this analysis locally:\n"
                          "  1. Install hotcell " HC_VERSION " and build the tree \"");
    append_docstring(out, m->policy->tree);
    (void)hc_buf_str(
        out, "\".\n"
             "  2. Keep this file, the .json file beside it, and the data named below in their places.\n"
             "  3. Run: hotcell replay THIS_FILE\n"
             "     or: python3 -m hotcell.replicate THIS_FILE\n\n"
             "Pre-loaded DataFrames:\n");
    for (size_t i = 0; i < job->input_count; i++) {
        if (job->inputs[i].format == HC_INPUT_PATH)
            continue;
        (void)hc_buf_fmt(out, "  - %s: ", job->inputs[i].name);
        append_docstring(out, job->inputs[i].path);
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
        append_header(out, job, m);
        if (len >= strlen(HC_BOM) && memcmp(code, HC_BOM, strlen(HC_BOM)) == 0) {
            code += strlen(HC_BOM); /* a byte order mark is valid only at the very beginning */
            len -= strlen(HC_BOM);
        }
    }
    (void)hc_buf_add(out, code, len);
}

/* ---- the outcome ---- */

static bool add_item(cJSON *to, const char *name, cJSON *item)
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
        bool ok = add_item(entry, "path", make_text(list[i].path)) &&
                  add_item(entry, "sha256", cJSON_CreateString(list[i].sha256));
        if (ok && add_item(out, NULL, entry))
            continue;
        if (!ok)
            cJSON_Delete(entry);
        cJSON_Delete(out);
        return NULL;
    }
    return out;
}

/* Remove addresses ("<X at 0x...>") from texts of objects, as they differ in every run. */
static void remove_addresses(struct hc_buf *text)
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

/* The hash of a member of the guest's report, in canonical form; JSON null if the member is missing. */
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
    remove_addresses(&canonical);
    hc_sha256_hex(canonical.data, canonical.len, hex);
    return cJSON_CreateString(hex);
}

static bool add_report(cJSON *to, const struct hc_manifest *m)
{
    struct hc_json report = {0};
    struct hc_error ignored;
    if (m->guest)
        (void)hc_json_parse(&report, "report", m->guest, strlen(m->guest), &ignored);
    bool ok = add_item(to, "value", make_hash(&report, "value")) &&
              add_item(to, "results", make_hash(&report, "results")) &&
              add_item(to, "returned", make_hash(&report, "returned"));
    hc_json_finish(&report);
    return ok;
}

static cJSON *make_stream(const struct hc_stream *s)
{
    cJSON *out = cJSON_CreateObject();
    char hex[HC_SHA256_HEX];
    hc_sha256_hex(s->text.data ? s->text.data : "", s->text.len, hex);
    if (add_item(out, "bytes", cJSON_CreateNumber((double)s->bytes)) &&
        add_item(out, "sha256", cJSON_CreateString(hex)))
        return out;
    cJSON_Delete(out);
    return NULL;
}

cJSON *hc_record_outcome(const struct hc_manifest *m)
{
    cJSON *out = cJSON_CreateObject();
    if (add_item(out, "status", cJSON_CreateString(hc_status_name(m->status))) &&
        add_item(out, "exit_code", cJSON_CreateNumber(hc_status_exit(m->status))) &&
        add_item(out, "stdout", make_stream(&m->out)) && add_report(out, m) &&
        add_item(out, "figures", make_artifacts(m->figures, m->figure_count)) &&
        add_item(out, "files", make_artifacts(m->files, m->file_count)))
        return out;
    cJSON_Delete(out);
    return NULL;
}

/* ---- the record ---- */

static bool add_inputs(cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = cJSON_AddArrayToObject(root, "inputs");
    for (size_t i = 0; i < m->input_count; i++) {
        cJSON *entry = cJSON_CreateObject();
        if (!add_item(entry, "name", cJSON_CreateString(m->inputs[i].name)) ||
            !add_item(entry, "bytes", cJSON_CreateNumber((double)m->inputs[i].bytes)) ||
            !add_item(entry, "sha256", cJSON_CreateString(m->inputs[i].sha256))) {
            cJSON_Delete(entry);
            return false;
        }
        if (!add_item(list, NULL, entry))
            return false;
    }
    return list != NULL;
}

/* Add the input's absolute path, which is valid in any working directory. */
static bool add_path(cJSON *to, const struct hc_input *in)
{
    char *path = realpath(in->path, NULL), name[HC_JOB_NAME + 8];
    const char *text = path ? path : in->path;
    (void)snprintf(name, sizeof name, "%s%s", in->name, hc_input_mark(in));
    bool ok = add_item(to, name, make_text(text));
    free(path);
    return ok;
}

static bool add_return(cJSON *to, const struct hc_return *r)
{
    hc_autobuf text = {0};
    (void)hc_buf_fmt(&text, "%s=%s", r->name, r->format);
    return !text.failed && add_item(to, NULL, cJSON_CreateString(text.data));
}

#define STDIN_BYTES 65536 /* most bytes of standard input in a record */

/* Whether the record has the job's standard input: not if it is a stream, a long text, or not UTF-8. */
static bool has_stdin(const struct hc_job *job)
{
    return job->stdin_data && job->stdin_len <= STDIN_BYTES &&
           !memchr(job->stdin_data, '\0', job->stdin_len) &&
           hc_utf8_valid(job->stdin_data, job->stdin_len, NULL);
}

/* What the job had and the record has not. */
static bool add_missing(cJSON *root, const struct hc_job *job, const struct hc_manifest *m)
{
    const bool no_stdin = job->has_stdin && !has_stdin(job);
    if (!no_stdin && !m->had_earlier_files)
        return true;
    cJSON *list = cJSON_AddArrayToObject(root, "missing");
    return (!no_stdin || add_item(list, NULL, cJSON_CreateString(HC_RECORD_NO_STDIN))) &&
           (!m->had_earlier_files || add_item(list, NULL, cJSON_CreateString(HC_RECORD_NO_FILES)));
}

static bool add_dir(cJSON *to, const struct hc_manifest_dir *dir)
{
    cJSON *entry = cJSON_CreateObject();
    bool ok = add_item(to, NULL, entry);
    return ok && add_item(entry, "host", make_text(dir->host)) &&
           add_item(entry, "place", make_text(dir->place)) &&
           add_item(entry, "mode", cJSON_CreateString(dir->mode));
}

static bool add_dirs(cJSON *spec, const struct hc_job *job, const struct hc_manifest *m)
{
    cJSON *dirs = m->dir_count ? cJSON_AddArrayToObject(spec, "dirs") : NULL;
    bool ok = dirs || !m->dir_count;
    for (size_t i = 0; ok && i < m->dir_count; i++)
        ok = add_dir(dirs, &m->dirs[i]);
    return ok && (!job->workdir || add_item(spec, "workdir", make_text(job->workdir)));
}

static bool add_spec(cJSON *root, const struct hc_job *job, const struct hc_manifest *m)
{
    cJSON *spec = cJSON_AddObjectToObject(root, "spec");
    cJSON *inputs = cJSON_AddObjectToObject(spec, "inputs");
    cJSON *returns = cJSON_AddArrayToObject(spec, "return");
    bool ok = inputs && returns;
    for (size_t i = 0; ok && i < job->input_count; i++)
        ok = add_path(inputs, &job->inputs[i]);
    for (size_t i = 0; ok && i < job->return_count; i++)
        ok = add_return(returns, &job->returns[i]);
    ok = ok && add_dirs(spec, job, m);
    if (ok && job->vars_text)
        ok = add_item(spec, "vars", cJSON_CreateRaw(job->vars_text));
    if (ok && job->args)
        ok = add_item(spec, "args", cJSON_Duplicate(job->args, true));
    if (ok && job->env)
        ok = add_item(spec, "env", cJSON_Duplicate(job->env, true));
    if (ok && has_stdin(job))
        ok = add_item(spec, "stdin", cJSON_CreateString(job->stdin_data));
    if (ok && job->has_seed)
        ok = add_item(spec, "seed", cJSON_CreateNumber(job->seed));
    if (ok && job->tenant)
        ok = add_item(spec, "tenant", cJSON_CreateString(job->tenant));
    return ok;
}

static bool add_identity(cJSON *root, const char *name, double bytes, const char *called, const char *sha256)
{
    cJSON *o = cJSON_AddObjectToObject(root, name);
    bool ok =
        called ? add_item(o, "name", make_text(called)) : add_item(o, "bytes", cJSON_CreateNumber(bytes));
    return ok && add_item(o, "sha256", cJSON_CreateString(sha256));
}

/* Says that the saved program is a command, whose arguments the file has as JSON. */
static bool add_kind(cJSON *root, const struct hc_job *job)
{
    cJSON *code = cJSON_GetObjectItemCaseSensitive(root, "code");
    return !job->is_command || add_item(code, "command", cJSON_CreateTrue());
}

int hc_record_print(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m,
                    struct hc_error *err)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = add_item(root, "version", cJSON_CreateNumber(HC_RECORD_VERSION)) &&
              add_item(root, "hotcell", cJSON_CreateString(HC_VERSION)) &&
              add_item(root, "job_id", cJSON_CreateString(m->job_id)) &&
              add_item(root, "started", cJSON_CreateString(m->started)) &&
              add_identity(root, "code", (double)m->code_bytes, NULL, m->code_sha256) &&
              add_kind(root, job) && add_identity(root, "tree", 0, m->policy->tree, m->tree_sha256) &&
              add_inputs(root, m) && add_spec(root, job, m) && add_missing(root, job, m) &&
              add_item(root, "policy", hc_policy_to_json(m->policy)) &&
              add_item(root, "outcome", hc_record_outcome(m));
    char *text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    int rc = text ? hc_json_indent(text, strlen(text), NULL, out, err) : hc_fail(err, 0, "write the record");
    cJSON_free(text);
    return rc;
}
