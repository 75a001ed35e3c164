#include "manifest/manifest_parts.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "manifest/report.h"
#include "policy/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many of the guest's warnings are listed beside the launcher's, and how many bytes of each. */
#define GUEST_WARNINGS      50
#define GUEST_WARNING_BYTES 1024
#define LISTED_CHANGES      200 /* most changes of a directory's copy that a manifest lists */

static const struct {
    const char *name; /* name in a manifest */
    int exit;         /* exit status of `hotcell run` */
    bool limit;       /* a limit of the policy ended the job */
} statuses[] = {
#define HC_STATUS_ROW(id, name, exit, limit, text) [HC_STATUS_##id] = {name, exit, limit},
#include "manifest/status.def"
};

const char *hc_status_name(enum hc_status s)
{
    return statuses[s].name;
}

int hc_status_exit(enum hc_status s)
{
    return statuses[s].exit;
}

bool hc_status_is_limit(enum hc_status s)
{
    return statuses[s].limit;
}

static void free_artifacts(struct hc_artifact *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].path);
    free(list);
}

void hc_manifest_finish(struct hc_manifest *m)
{
    hc_buf_finish(&m->out.text);
    hc_buf_finish(&m->err.text);
    free(m->guest);
    free_artifacts(m->figures, m->figure_count);
    free_artifacts(m->files, m->file_count);
    for (size_t i = 0; i < m->skipped_count; i++)
        free(m->skipped[i].path);
    free(m->skipped);
    for (size_t i = 0; i < m->dir_count; i++) {
        free(m->dirs[i].place);
        free(m->dirs[i].host);
        free(m->dirs[i].volume);
        free(m->dirs[i].not_kept);
        hc_changes_free(m->dirs[i].changes);
    }
    free(m->code_path);
    cJSON_Delete(m->rejection.findings);
    cJSON_Delete(m->check);
    cJSON_Delete(m->runs);
    hc_denials_finish(&m->denials);
    hc_tool_log_finish(&m->tools);
    *m = (struct hc_manifest){0};
}

/* ---- the members, in their order ---- */

static void put_code(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (m->code_sha256[0]) {
        cJSON *code = hc_doc_object(d, root, "code");
        hc_doc_number(d, code, "bytes", (double)m->code_bytes);
        hc_doc_text(d, code, "sha256", m->code_sha256);
        if (m->command)
            (void)hc_doc_item(d, code, "command", cJSON_CreateRaw(m->command));
    } else {
        hc_doc_null(d, root, "code");
    }
    if (m->code_path)
        (void)hc_doc_name(d, root, "code_path", m->code_path);
    else
        hc_doc_null(d, root, "code_path");
}

static void put_job(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    hc_doc_number(d, root, "version", HC_MANIFEST_VERSION);
    hc_doc_text(d, root, "job_id", m->job_id);
    if (*m->context)
        hc_doc_text(d, root, "context", m->context);
    hc_doc_text_or_null(d, root, "tenant", m->tenant);
    (void)hc_doc_item(d, root, "labels", m->labels ? cJSON_Duplicate(m->labels, true) : cJSON_CreateObject());
    hc_doc_text(d, root, "status", hc_status_name(m->status));
    hc_doc_number(d, root, "exit_code", m->exit_code);
    hc_doc_text_or_null(d, root, "reason", m->reason);
    hc_doc_bool(d, root, "partial", m->partial);
}

cJSON *hc_manifest_findings(const struct hc_manifest *m)
{
    if (m->rejection.findings)
        return cJSON_Duplicate(m->rejection.findings, true);
    struct hc_doc d = {.ok = true};
    cJSON *list = cJSON_CreateArray();
    if (m->rejection.set) {
        cJSON *one = hc_doc_object(&d, list, NULL);
        hc_doc_text(&d, one, "rule", m->rejection.rule);
        hc_doc_text(&d, one, "message", m->rejection.message);
        hc_doc_null(&d, one, "what");
        hc_doc_text_or_null(&d, one, "hint", m->rejection.hint);
        hc_doc_known(&d, one, "line", m->rejection.line > 0 ? m->rejection.line : -1);
        hc_doc_known(&d, one, "column", m->rejection.column > 0 ? m->rejection.column : -1);
        hc_doc_null(&d, one, "end_column");
    }
    if (d.ok)
        return list;
    cJSON_Delete(list);
    return NULL;
}

static void put_rejection(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (!m->rejection.set) {
        hc_doc_null(d, root, "rejection");
        return;
    }
    cJSON *r = hc_doc_object(d, root, "rejection");
    hc_doc_text(d, r, "rule", m->rejection.rule);
    hc_doc_text(d, r, "message", m->rejection.message);
    hc_doc_known(d, r, "line", m->rejection.line > 0 ? m->rejection.line : -1);
    hc_doc_known(d, r, "column", m->rejection.column > 0 ? m->rejection.column : -1);
    hc_doc_text_or_null(d, r, "hint", m->rejection.hint);
    (void)hc_doc_item(d, r, "findings", hc_manifest_findings(m));
    hc_doc_number(d, r, "more", (double)m->rejection.more);
}

static void put_check(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    (void)hc_doc_item(d, root, "check", m->check ? cJSON_Duplicate(m->check, true) : cJSON_CreateNull());
}

static void put_process(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (!m->process.known) {
        hc_doc_null(d, root, "process");
        return;
    }
    cJSON *p = hc_doc_object(d, root, "process");
    if (!m->process.signaled) {
        hc_doc_number(d, p, "exit", m->process.value);
        return;
    }
    const char *abbreviation = sigabbrev_np(m->process.value);
    char name[24];
    if (abbreviation)
        (void)snprintf(name, sizeof name, "SIG%s", abbreviation);
    else
        (void)snprintf(name, sizeof name, "SIG%d", m->process.value);
    hc_doc_number(d, p, "signal", m->process.value);
    hc_doc_text(d, p, "name", name);
}

static void put_stream(struct hc_doc *d, cJSON *root, const char *name, const struct hc_stream *s)
{
    cJSON *stream = hc_doc_object(d, root, name);
    hc_doc_bytes(d, stream, "text", s->text.data, s->text.len);
    hc_doc_number(d, stream, "bytes", (double)s->bytes);
    hc_doc_bool(d, stream, "truncated", s->truncated || s->shortened);
    hc_doc_number(d, stream, "redactions", (double)s->redactions);
}

/* Add the guest's report. Returns NULL, or why the report is left out. It was checked when it arrived, and is
 * checked again here, so that no report can make a manifest that cannot be read or breaks its schema.
 * *warnings gets the report's warnings, owned by the caller. */
static const char *put_guest(struct hc_doc *d, cJSON *root, const struct hc_manifest *m,
                             struct hc_guest_warnings *warnings, struct hc_error *err)
{
    bool fits = m->guest && hc_guest_report_check(m->guest, strlen(m->guest), warnings, err) == 0;
    if (m->guest && !fits && err->sys == ENOMEM)
        d->ok = false; /* out of memory: the report may be good, and a manifest must not say that it is not */
    (void)hc_doc_item(d, root, "guest", fits ? cJSON_CreateRaw(m->guest) : cJSON_CreateNull());
    return m->guest && !fits ? err->text : NULL;
}

static void put_artifacts(struct hc_doc *d, cJSON *root, const char *name, const struct hc_artifact *list,
                          size_t count)
{
    cJSON *out = hc_doc_list(d, root, name);
    for (size_t i = 0; i < count; i++) {
        cJSON *entry = hc_doc_object(d, out, NULL);
        hc_doc_path(d, entry, list[i].path);
        if (list[i].mime)
            hc_doc_text(d, entry, "mime", list[i].mime);
        hc_doc_number(d, entry, "bytes", (double)list[i].bytes);
        hc_doc_text(d, entry, "sha256", list[i].sha256);
    }
}

static void put_skipped(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *skipped = hc_doc_object(d, root, "skipped");
    cJSON *entries = hc_doc_list(d, skipped, "entries");
    for (size_t i = 0; i < m->skipped_count; i++) {
        cJSON *entry = hc_doc_object(d, entries, NULL);
        hc_doc_path(d, entry, m->skipped[i].path);
        hc_doc_text(d, entry, "reason", m->skipped[i].reason);
    }
    hc_doc_number(d, skipped, "more", (double)m->skipped_more);
}

#define NAMED 3 /* names of files in the warning about one reason */

/* What the writer of a program can do about a file that was not kept. */
static const struct {
    const char *reason; /* reason in struct hc_skipped */
    const char *hint;
} left_out_hints[] = {
    {"hard link: more than one name",
     "only files with one name come out: copy the file, as with shutil.copy"},
    {"symbolic link", "no links come out: copy what it leads to, as with shutil.copy"},
    {"named pipe", "only plain files come out: write what is to come out into a file"},
    {"socket", "only plain files come out: write what is to come out into a file"},
    {"device", "only plain files come out: write what is to come out into a file"},
    {"the name is hotcell's own", "use another name"},
    {"directories nested too deep", "use fewer directories, or pack them into one file"},
    {"more files than the limit", "write fewer files, or pack them into one"},
};

static const char *left_out_hint(const char *reason)
{
    for (size_t i = 0; i < sizeof left_out_hints / sizeof *left_out_hints; i++)
        if (strcmp(left_out_hints[i].reason, reason) == 0)
            return left_out_hints[i].hint;
    return NULL;
}

/* Append the first names that were left out for this reason, from the entry `first` on. */
static void add_left_out(struct hc_buf *text, const struct hc_manifest *m, size_t first)
{
    const char *reason = m->skipped[first].reason;
    size_t count = 0;
    for (size_t i = first; i < m->skipped_count; i++) {
        char name[100];
        if (strcmp(m->skipped[i].reason, reason) != 0 || ++count > NAMED)
            continue;
        hc_plain_ascii(name, sizeof name, m->skipped[i].path);
        (void)hc_buf_fmt(text, "%s%s", count > 1 ? ", " : "", name);
    }
    if (count > NAMED)
        (void)hc_buf_fmt(text, " and %zu more", count - NAMED);
}

void hc_manifest_left_out(const struct hc_manifest *m, void (*say)(void *ctx, const char *text), void *ctx)
{
    for (size_t i = 0; i < m->skipped_count; i++) {
        const char *reason = m->skipped[i].reason, *hint = left_out_hint(reason);
        bool told = false;
        for (size_t k = 0; k < i && !told; k++)
            told = strcmp(m->skipped[k].reason, reason) == 0;
        if (told)
            continue;
        hc_autobuf text = {0};
        (void)hc_buf_str(&text, "not kept: ");
        add_left_out(&text, m, i);
        (void)hc_buf_fmt(&text, " (%s)%s%s", reason, hint ? "; " : "", hint ? hint : "");
        if (!text.failed)
            say(ctx, text.data);
    }
}

/* A document, and a list in it. */
struct warning_list {
    struct hc_doc *d;
    cJSON *list;
};

static void put_left_out(void *ctx, const char *text)
{
    const struct warning_list *to = ctx;
    hc_doc_text(to->d, to->list, NULL, text);
}

/* Adds the guest's warnings to those of the launcher, marked as the guest's, and each on one line. */
static void put_guest_warnings(struct hc_doc *d, cJSON *list, const cJSON *warnings)
{
    const cJSON *warning;
    int count = 0;
    cJSON_ArrayForEach(warning, warnings)
    {
        hc_autobuf text = {0};
        if (++count > GUEST_WARNINGS)
            return hc_doc_text(d, list, NULL, "guest: more warnings are listed under guest");
        hc_plain_line(warning->valuestring);
        (void)hc_buf_fmt(&text, "guest: %s", warning->valuestring);
        d->ok &= !text.failed;
        hc_doc_bytes(d, list, NULL, text.data,
                     text.len < GUEST_WARNING_BYTES ? text.len : GUEST_WARNING_BYTES);
    }
}

static void put_warnings(struct hc_doc *d, cJSON *root, const struct hc_manifest *m, const cJSON *of_guest,
                         const char *no_guest)
{
    cJSON *list = hc_doc_list(d, root, "warnings");
    for (size_t i = 0; i < m->warning_count; i++)
        hc_doc_text(d, list, NULL, m->warnings[i]);
    hc_manifest_left_out(m, put_left_out, &(struct warning_list){.d = d, .list = list});
    if (m->denials.more)
        hc_doc_text(d, list, NULL, "more was refused than is listed under denials");
    if (m->tools.more)
        hc_doc_text(d, list, NULL, "more tools were called than are listed under tools");
    put_guest_warnings(d, list, of_guest);
    if (!no_guest)
        return;
    char why[512];
    hc_plain_ascii(why, sizeof why, no_guest);
    hc_autobuf text = {0};
    (void)hc_buf_fmt(&text, "the report of the guest's process was dropped: %s", why);
    hc_doc_bytes(d, list, NULL, text.data, text.len);
}

static void put_denial_layer(struct hc_doc *d, cJSON *entry, const struct hc_denials *list,
                             const struct hc_denial *denial)
{
    (void)list;
    hc_doc_text(d, entry, "layer", hc_refuser_name(denial->by));
}

static void put_denial_line(struct hc_doc *d, cJSON *entry, const struct hc_denials *list,
                            const struct hc_denial *denial)
{
    (void)list;
    hc_doc_known(d, entry, "line", denial->line > 0 ? denial->line : -1);
}

static void put_denial_count(struct hc_doc *d, cJSON *entry, const struct hc_denials *list,
                             const struct hc_denial *denial)
{
    (void)list;
    hc_doc_number(d, entry, "count", (double)denial->count);
}

static void put_denial_attested(struct hc_doc *d, cJSON *entry, const struct hc_denials *list,
                                const struct hc_denial *denial)
{
    hc_doc_bool(d, entry, "attested", hc_denial_attested(list, denial));
}

static void put_denial(struct hc_doc *d, cJSON *entry, const struct hc_denials *list,
                       const struct hc_denial *denial)
{
#define HC_DENIAL_TEXT(member, bytes, may_lack, ...)                                                         \
    (may_lack ? hc_doc_text_or_null : hc_doc_text)(d, entry, #member, denial->member);
#define HC_DENIAL_OTHER(member, ...) put_denial_##member(d, entry, list, denial);
#define HC_DENIAL_ADDED              HC_DENIAL_OTHER
#include "manifest/denial.def"
}

static void put_denials(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = hc_doc_list(d, root, "denials");
    for (size_t i = 0; i < m->denials.count; i++)
        put_denial(d, hc_doc_object(d, list, NULL), &m->denials, &m->denials.items[i]);
}

static void put_tools(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = hc_doc_list(d, root, "tools");
    for (size_t i = 0; i < m->tools.count; i++) {
        const struct hc_tool_entry *e = &m->tools.items[i];
        cJSON *entry = hc_doc_object(d, list, NULL);
        hc_doc_text(d, entry, "name", e->name);
        hc_doc_text(d, entry, "arguments", e->arguments ? e->arguments : "");
        hc_doc_number(d, entry, "argument_bytes", (double)e->argument_bytes);
        hc_doc_text(d, entry, "status", hc_tool_status_name(e->status));
        hc_doc_text_or_null(d, entry, "message", e->message);
        hc_doc_text(d, entry, "started", e->started);
        hc_doc_seconds(d, entry, "wall", e->wall_us);
        hc_doc_known(d, entry, "result_bytes", e->result_bytes);
    }
}

const char *hc_manifest_code_lost(const struct hc_manifest *m)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strncmp(m->warnings[i], HC_CODE_LOST, strlen(HC_CODE_LOST)) == 0)
            return m->warnings[i] + strlen(HC_CODE_LOST);
    return NULL;
}

static void put_samples(struct hc_doc *d, cJSON *usage, const struct hc_samples *samples)
{
    cJSON *list = hc_doc_list(d, usage, "samples");
    for (size_t i = 0; i < samples->count; i++) {
        const struct hc_usage_sample *sample = &samples->items[i];
        cJSON *entry = hc_doc_object(d, list, NULL);
        hc_doc_seconds(d, entry, "t", sample->at_us);
        hc_doc_known(d, entry, "memory", sample->memory);
        hc_doc_seconds(d, entry, "cpu", sample->cpu_us);
        hc_doc_known(d, entry, "pids", sample->pids);
    }
}

static void put_usage(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *usage = hc_doc_object(d, root, "usage");
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        const struct hc_usage_row *row = &hc_usage_rows[i];
        int64_t value = hc_usage_get(&m->usage, row);
        if (row->unit == HC_USAGE_SECONDS)
            hc_doc_seconds(d, usage, row->name, value);
        else
            hc_doc_known(d, usage, row->name, value);
    }
    put_samples(d, usage, &m->samples);
}

static void put_timing(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *timing = hc_doc_object(d, root, "timing");
    hc_doc_number(d, timing, "queue", 0);
    hc_doc_seconds(d, timing, "build", m->timing.build_us);
    hc_doc_seconds(d, timing, "start", m->timing.start_us);
    hc_doc_seconds(d, timing, "run", m->timing.run_us);
    hc_doc_seconds(d, timing, "collect", m->timing.collect_us);
}

static void put_limits(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    static const char section[] = "limits.";
    cJSON *limits = hc_doc_object(d, root, "limits");
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (strncmp(opt->path, section, strlen(section)) != 0)
            continue;
        (void)hc_doc_item(d, limits, opt->path + strlen(section), hc_option_to_plain_json(m->policy, opt));
    }
    cJSON *by = hc_doc_object(d, limits, "enforced_by");
#define HC_ENFORCED(name) hc_doc_text_or_null(d, by, #name, m->enforced_by.name);
#include "policy/limits.def"
}

static void put_layers(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *layers = hc_doc_object(d, root, "layers");
    for (size_t i = 0; i < m->layer_count; i++) {
        cJSON *layer = hc_doc_object(d, layers, m->layers[i].name);
        hc_doc_bool(d, layer, "on", m->layers[i].on);
        hc_doc_text(d, layer, "evidence", m->layers[i].evidence);
    }
}

static cJSON *put_identity(struct hc_doc *d, cJSON *root, const char *name, const char *called,
                           const char *sha256)
{
    cJSON *identity = hc_doc_object(d, root, name);
    hc_doc_text(d, identity, "name", called);
    hc_doc_text_or_null(d, identity, "sha256", sha256);
    return identity;
}

/* "sha256" only identifies the tree; "checked" tells how much of the tree was compared with its record. */
static void put_tree(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    static const char *const checks[] = {[HC_TREE_NONE] = "none",
                                         [HC_TREE_QUICK] = "quick",
                                         [HC_TREE_STAMPS] = "stamps",
                                         [HC_TREE_CONTENT] = "content"};
    cJSON *tree = put_identity(d, root, "tree", m->tree_name, m->tree_sha256);
    hc_doc_text(d, tree, "checked", checks[m->tree_checked]);
    cJSON *layers = m->tree_layers.count ? hc_doc_list(d, tree, "layers") : NULL;
    for (size_t i = 0; i < m->tree_layers.count; i++) {
        cJSON *layer = hc_doc_object(d, layers, NULL);
        hc_doc_text(d, layer, "name", m->tree_layers.list[i].name);
        hc_doc_text(d, layer, "sha256", m->tree_layers.list[i].sha256);
    }
}

static void put_sources(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *policy = put_identity(d, root, "policy", m->policy->name, m->policy_sha256);
    hc_doc_text_or_null(d, policy, "base_sha256", m->policy->base_sha256);
    if (m->tree_name)
        put_tree(d, root, m);
    else
        hc_doc_null(d, root, "tree");
    cJSON *inputs = hc_doc_list(d, root, "inputs");
    for (size_t i = 0; i < m->input_count; i++) {
        cJSON *entry = hc_doc_object(d, inputs, NULL);
        hc_doc_text(d, entry, "name", m->inputs[i].name);
        if (hc_doc_name(d, entry, "file", m->inputs[i].file))
            hc_doc_bool(d, entry, "escaped", true);
        hc_doc_known(d, entry, "bytes", m->inputs[i].bytes);
        hc_doc_text_or_null(d, entry, "sha256", m->inputs[i].sha256);
    }
}

static size_t count_volumes(const struct hc_manifest *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->dir_count; i++)
        count += m->dirs[i].volume != NULL;
    return count;
}

/* Where volumes are on the host is nothing for their tenant. */
static void put_volumes(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *volumes = hc_doc_list(d, root, "volumes");
    for (size_t i = 0; i < m->dir_count; i++) {
        const struct hc_manifest_dir *dir = &m->dirs[i];
        if (!dir->volume)
            continue;
        cJSON *entry = hc_doc_object(d, volumes, NULL);
        hc_doc_text(d, entry, "name", dir->volume);
        if (hc_doc_name(d, entry, "place", dir->place))
            hc_doc_bool(d, entry, "escaped", true);
        hc_doc_bool(d, entry, "kept", dir->kept);
        hc_doc_text_or_null(d, entry, "reason", dir->kept || !dir->not_kept ? "" : dir->not_kept);
        if (dir->kept) {
            hc_doc_number(d, entry, "bytes", (double)dir->bytes);
            hc_doc_number(d, entry, "files", (double)dir->files);
        }
    }
}

static void put_dirs(struct hc_doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *dirs = hc_doc_list(d, root, "dirs");
    for (size_t i = 0; i < m->dir_count; i++) {
        if (m->dirs[i].volume)
            continue;
        cJSON *entry = hc_doc_object(d, dirs, NULL);
        bool escaped = hc_doc_name(d, entry, "host", m->dirs[i].host);
        if (hc_doc_name(d, entry, "place", m->dirs[i].place) || escaped)
            hc_doc_bool(d, entry, "escaped", true);
        hc_doc_text(d, entry, "mode", m->dirs[i].mode);
        if (m->dirs[i].changes)
            (void)hc_doc_item(d, entry, "changes", hc_changes_print(m->dirs[i].changes, LISTED_CHANGES));
    }
}

cJSON *hc_manifest_document(const struct hc_manifest *m)
{
    struct hc_doc d = {.ok = true};
    struct hc_error report_err;
    cJSON *root = cJSON_CreateObject();
    put_job(&d, root, m);
    put_rejection(&d, root, m);
    put_check(&d, root, m);
    put_process(&d, root, m);
    put_stream(&d, root, "stdout", &m->out);
    put_stream(&d, root, "stderr", &m->err);
    struct hc_guest_warnings of_guest = {0};
    const char *no_guest = put_guest(&d, root, m, &of_guest, &report_err);
    put_artifacts(&d, root, "figures", m->figures, m->figure_count);
    put_artifacts(&d, root, "files", m->files, m->file_count);
    put_skipped(&d, root, m);
    put_code(&d, root, m);
    put_warnings(&d, root, m, of_guest.texts, no_guest);
    hc_guest_warnings_finish(&of_guest);
    put_denials(&d, root, m);
    put_tools(&d, root, m);
    if (m->runs)
        d.ok &= cJSON_AddItemToObject(root, "runs", cJSON_Duplicate(m->runs, true));
    put_usage(&d, root, m);
    put_timing(&d, root, m);
    put_limits(&d, root, m);
    put_layers(&d, root, m);
    put_sources(&d, root, m);
    if (m->dir_count > count_volumes(m))
        put_dirs(&d, root, m);
    if (count_volumes(m))
        put_volumes(&d, root, m);
    hc_doc_text_or_null(&d, root, "started", m->started);
    hc_doc_text_or_null(&d, root, "finished", m->finished);
    if (d.ok)
        return root;
    cJSON_Delete(root);
    return NULL;
}
