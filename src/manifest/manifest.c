#include "manifest/manifest.h"

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

static const char algorithm[] = "HMAC-SHA256";

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

/* ---- building blocks: each adds a member to `to`, and sets `ok` to false if memory runs out ---- */

struct doc {
    bool ok; /* false: memory ran out, and a member is missing */
};

/* Add `item` to `to`, as a member, or as an element of a list if `name` is NULL. `to` or `item` is NULL if an
 * earlier step ran out of memory. */
static cJSON *put_item(struct doc *d, cJSON *to, const char *name, cJSON *item)
{
    bool added =
        to && item && (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item));
    if (added)
        return item;
    cJSON_Delete(item);
    d->ok = false;
    return NULL;
}

static cJSON *put_object(struct doc *d, cJSON *to, const char *name)
{
    return put_item(d, to, name, cJSON_CreateObject());
}

static cJSON *put_list(struct doc *d, cJSON *to, const char *name)
{
    return put_item(d, to, name, cJSON_CreateArray());
}

static void put_number(struct doc *d, cJSON *to, const char *name, double value)
{
    (void)put_item(d, to, name, cJSON_CreateNumber(value));
}

static void put_bool(struct doc *d, cJSON *to, const char *name, bool value)
{
    (void)put_item(d, to, name, cJSON_CreateBool(value));
}

static void put_null(struct doc *d, cJSON *to, const char *name)
{
    (void)put_item(d, to, name, cJSON_CreateNull());
}

static void put_known(struct doc *d, cJSON *to, const char *name, int64_t value)
{
    if (value < 0)
        put_null(d, to, name);
    else
        put_number(d, to, name, (double)value);
}

static void put_seconds(struct doc *d, cJSON *to, const char *name, int64_t us)
{
    if (us < 0)
        put_null(d, to, name);
    else
        put_number(d, to, name, (double)us / 1e6);
}

/* Add text of any bytes. Bytes that are not UTF-8 become U+FFFD, and so does a NUL, at which many readers
 * would end the text. */
static void put_bytes(struct doc *d, cJSON *to, const char *name, const char *bytes, size_t len)
{
    hc_autobuf clean = {0};
    for (size_t at = 0; at < len;) {
        size_t part = strnlen(bytes + at, len - at);
        (void)hc_utf8_scrub(&clean, bytes + at, part);
        at += part;
        if (at < len) {
            (void)hc_buf_str(&clean, "\xef\xbf\xbd");
            at++;
        }
    }
    (void)put_item(d, to, name, clean.failed ? NULL : cJSON_CreateString(clean.data ? clean.data : ""));
}

static void put_text(struct doc *d, cJSON *to, const char *name, const char *text)
{
    put_bytes(d, to, name, text, strlen(text));
}

static void put_text_or_null(struct doc *d, cJSON *to, const char *name, const char *text)
{
    if (text && *text)
        put_text(d, to, name, text);
    else
        put_null(d, to, name);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_plain_name(const char *name)
{
    if (!hc_utf8_valid(name, strlen(name), NULL))
        return false;
    for (; *name; name++)
        if (is_control(*name))
            return false;
    return true;
}

/* Write a name with \xHH for bytes that are control characters or not UTF-8, and every backslash doubled:
 * unlike U+FFFD these escapes can be undone, and different names stay different. */
static void escape_name(struct hc_buf *out, const char *name)
{
    while (*name) {
        size_t good = strlen(name);
        (void)hc_utf8_valid(name, good, &good);
        for (const char *end = name + good; name < end; name++) {
            if (is_control(*name))
                (void)hc_buf_fmt(out, "\\x%02x", (unsigned char)*name);
            else
                (void)hc_buf_add(out, *name == '\\' ? "\\\\" : name, *name == '\\' ? 2 : 1);
        }
        if (*name)
            (void)hc_buf_fmt(out, "\\x%02x", (unsigned char)*name++);
    }
}

void hc_name_unescape(char *name)
{
    char *to = name;
    const char *s = name;
    while (*s) {
        if (s[0] == '\\' && s[1] == 'x' && s[2] && s[3]) {
            const char hex[3] = {s[2], s[3], '\0'};
            *to++ = (char)strtol(hex, NULL, 16);
            s += 4;
        } else {
            s += s[0] == '\\' && s[1] == '\\';
            *to++ = *s++;
        }
    }
    *to = '\0';
}

cJSON *hc_name_print(const char *name, bool *escaped)
{
    *escaped = !is_plain_name(name);
    if (!*escaped)
        return cJSON_CreateString(name);
    hc_autobuf text = {0};
    escape_name(&text, name);
    return text.failed ? NULL : cJSON_CreateString(text.data);
}

/* Returns true if the name had to be escaped. */
static bool put_name(struct doc *d, cJSON *to, const char *member, const char *name)
{
    bool escaped;
    (void)put_item(d, to, member, hc_name_print(name, &escaped));
    return escaped;
}

/* Add "path", and "escaped" if the path had to be escaped. */
static void put_path(struct doc *d, cJSON *to, const char *path)
{
    if (put_name(d, to, "path", path))
        put_bool(d, to, "escaped", true);
}

/* ---- the members, in their order ---- */

static void put_code(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (m->code_sha256[0]) {
        cJSON *code = put_object(d, root, "code");
        put_number(d, code, "bytes", (double)m->code_bytes);
        put_text(d, code, "sha256", m->code_sha256);
        if (m->command)
            (void)put_item(d, code, "command", cJSON_CreateRaw(m->command));
    } else {
        put_null(d, root, "code");
    }
    if (m->code_path)
        (void)put_name(d, root, "code_path", m->code_path);
    else
        put_null(d, root, "code_path");
}

static void put_job(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    put_number(d, root, "version", HC_MANIFEST_VERSION);
    put_text(d, root, "job_id", m->job_id);
    if (*m->context)
        put_text(d, root, "context", m->context);
    put_text_or_null(d, root, "tenant", m->tenant);
    (void)put_item(d, root, "labels", m->labels ? cJSON_Duplicate(m->labels, true) : cJSON_CreateObject());
    put_text(d, root, "status", hc_status_name(m->status));
    put_number(d, root, "exit_code", m->exit_code);
    put_text_or_null(d, root, "reason", m->reason);
    put_bool(d, root, "partial", m->partial);
}

cJSON *hc_manifest_findings(const struct hc_manifest *m)
{
    if (m->rejection.findings)
        return cJSON_Duplicate(m->rejection.findings, true);
    struct doc d = {.ok = true};
    cJSON *list = cJSON_CreateArray();
    if (m->rejection.set) {
        cJSON *one = put_object(&d, list, NULL);
        put_text(&d, one, "rule", m->rejection.rule);
        put_text(&d, one, "message", m->rejection.message);
        put_null(&d, one, "what");
        put_text_or_null(&d, one, "hint", m->rejection.hint);
        put_known(&d, one, "line", m->rejection.line > 0 ? m->rejection.line : -1);
        put_known(&d, one, "column", m->rejection.column > 0 ? m->rejection.column : -1);
        put_null(&d, one, "end_column");
    }
    if (d.ok)
        return list;
    cJSON_Delete(list);
    return NULL;
}

static void put_rejection(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (!m->rejection.set) {
        put_null(d, root, "rejection");
        return;
    }
    cJSON *r = put_object(d, root, "rejection");
    put_text(d, r, "rule", m->rejection.rule);
    put_text(d, r, "message", m->rejection.message);
    put_known(d, r, "line", m->rejection.line > 0 ? m->rejection.line : -1);
    put_known(d, r, "column", m->rejection.column > 0 ? m->rejection.column : -1);
    put_text_or_null(d, r, "hint", m->rejection.hint);
    (void)put_item(d, r, "findings", hc_manifest_findings(m));
    put_number(d, r, "more", (double)m->rejection.more);
}

static void put_check(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    (void)put_item(d, root, "check", m->check ? cJSON_Duplicate(m->check, true) : cJSON_CreateNull());
}

static void put_process(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    if (!m->process.known) {
        put_null(d, root, "process");
        return;
    }
    cJSON *p = put_object(d, root, "process");
    if (!m->process.signaled) {
        put_number(d, p, "exit", m->process.value);
        return;
    }
    const char *abbreviation = sigabbrev_np(m->process.value);
    char name[24];
    if (abbreviation)
        (void)snprintf(name, sizeof name, "SIG%s", abbreviation);
    else
        (void)snprintf(name, sizeof name, "SIG%d", m->process.value);
    put_number(d, p, "signal", m->process.value);
    put_text(d, p, "name", name);
}

static void put_stream(struct doc *d, cJSON *root, const char *name, const struct hc_stream *s)
{
    cJSON *stream = put_object(d, root, name);
    put_bytes(d, stream, "text", s->text.data, s->text.len);
    put_number(d, stream, "bytes", (double)s->bytes);
    put_bool(d, stream, "truncated", s->truncated || s->shortened);
    put_number(d, stream, "redactions", (double)s->redactions);
}

/* Add the guest's report. Returns NULL, or why the report is left out. It was checked when it arrived, and is
 * checked again here, so that no report can make a manifest that cannot be read or breaks its schema.
 * *warnings gets the report's warnings, owned by the caller. */
static const char *put_guest(struct doc *d, cJSON *root, const struct hc_manifest *m,
                             struct hc_guest_warnings *warnings, struct hc_error *err)
{
    bool fits = m->guest && hc_guest_report_check(m->guest, strlen(m->guest), warnings, err) == 0;
    if (m->guest && !fits && err->sys == ENOMEM)
        d->ok = false; /* out of memory: the report may be good, and a manifest must not say that it is not */
    (void)put_item(d, root, "guest", fits ? cJSON_CreateRaw(m->guest) : cJSON_CreateNull());
    return m->guest && !fits ? err->text : NULL;
}

static void put_artifacts(struct doc *d, cJSON *root, const char *name, const struct hc_artifact *list,
                          size_t count)
{
    cJSON *out = put_list(d, root, name);
    for (size_t i = 0; i < count; i++) {
        cJSON *entry = put_object(d, out, NULL);
        put_path(d, entry, list[i].path);
        if (list[i].mime)
            put_text(d, entry, "mime", list[i].mime);
        put_number(d, entry, "bytes", (double)list[i].bytes);
        put_text(d, entry, "sha256", list[i].sha256);
    }
}

static void put_skipped(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *skipped = put_object(d, root, "skipped");
    cJSON *entries = put_list(d, skipped, "entries");
    for (size_t i = 0; i < m->skipped_count; i++) {
        cJSON *entry = put_object(d, entries, NULL);
        put_path(d, entry, m->skipped[i].path);
        put_text(d, entry, "reason", m->skipped[i].reason);
    }
    put_number(d, skipped, "more", (double)m->skipped_more);
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
    struct doc *d;
    cJSON *list;
};

static void put_left_out(void *ctx, const char *text)
{
    const struct warning_list *to = ctx;
    put_text(to->d, to->list, NULL, text);
}

/* Adds the guest's warnings to those of the launcher, marked as the guest's, and each on one line. */
static void put_guest_warnings(struct doc *d, cJSON *list, const cJSON *warnings)
{
    const cJSON *warning;
    int count = 0;
    cJSON_ArrayForEach(warning, warnings)
    {
        hc_autobuf text = {0};
        if (++count > GUEST_WARNINGS)
            return put_text(d, list, NULL, "guest: more warnings are listed under guest");
        hc_plain_line(warning->valuestring);
        (void)hc_buf_fmt(&text, "guest: %s", warning->valuestring);
        d->ok &= !text.failed;
        put_bytes(d, list, NULL, text.data, text.len < GUEST_WARNING_BYTES ? text.len : GUEST_WARNING_BYTES);
    }
}

static void put_warnings(struct doc *d, cJSON *root, const struct hc_manifest *m, const cJSON *of_guest,
                         const char *no_guest)
{
    cJSON *list = put_list(d, root, "warnings");
    for (size_t i = 0; i < m->warning_count; i++)
        put_text(d, list, NULL, m->warnings[i]);
    hc_manifest_left_out(m, put_left_out, &(struct warning_list){.d = d, .list = list});
    if (m->denials.more)
        put_text(d, list, NULL, "more was refused than is listed under denials");
    if (m->tools.more)
        put_text(d, list, NULL, "more tools were called than are listed under tools");
    put_guest_warnings(d, list, of_guest);
    if (!no_guest)
        return;
    char why[512];
    hc_plain_ascii(why, sizeof why, no_guest);
    hc_autobuf text = {0};
    (void)hc_buf_fmt(&text, "the report of the guest's process was dropped: %s", why);
    put_bytes(d, list, NULL, text.data, text.len);
}

static void put_denial_layer(struct doc *d, cJSON *entry, const struct hc_denials *list,
                             const struct hc_denial *denial)
{
    (void)list;
    put_text(d, entry, "layer", hc_refuser_name(denial->by));
}

static void put_denial_line(struct doc *d, cJSON *entry, const struct hc_denials *list,
                            const struct hc_denial *denial)
{
    (void)list;
    put_known(d, entry, "line", denial->line > 0 ? denial->line : -1);
}

static void put_denial_count(struct doc *d, cJSON *entry, const struct hc_denials *list,
                             const struct hc_denial *denial)
{
    (void)list;
    put_number(d, entry, "count", (double)denial->count);
}

static void put_denial_attested(struct doc *d, cJSON *entry, const struct hc_denials *list,
                                const struct hc_denial *denial)
{
    put_bool(d, entry, "attested", hc_denial_attested(list, denial));
}

static void put_denial(struct doc *d, cJSON *entry, const struct hc_denials *list,
                       const struct hc_denial *denial)
{
#define HC_DENIAL_TEXT(member, bytes, may_lack, ...)                                                         \
    (may_lack ? put_text_or_null : put_text)(d, entry, #member, denial->member);
#define HC_DENIAL_OTHER(member, ...) put_denial_##member(d, entry, list, denial);
#define HC_DENIAL_ADDED              HC_DENIAL_OTHER
#include "manifest/denial.def"
}

static void put_denials(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = put_list(d, root, "denials");
    for (size_t i = 0; i < m->denials.count; i++)
        put_denial(d, put_object(d, list, NULL), &m->denials, &m->denials.items[i]);
}

static void put_tools(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *list = put_list(d, root, "tools");
    for (size_t i = 0; i < m->tools.count; i++) {
        const struct hc_tool_entry *e = &m->tools.items[i];
        cJSON *entry = put_object(d, list, NULL);
        put_text(d, entry, "name", e->name);
        put_text(d, entry, "arguments", e->arguments ? e->arguments : "");
        put_number(d, entry, "argument_bytes", (double)e->argument_bytes);
        put_text(d, entry, "status", hc_tool_status_name(e->status));
        put_text_or_null(d, entry, "message", e->message);
        put_text(d, entry, "started", e->started);
        put_seconds(d, entry, "wall", e->wall_us);
        put_known(d, entry, "result_bytes", e->result_bytes);
    }
}

const char *hc_manifest_code_lost(const struct hc_manifest *m)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strncmp(m->warnings[i], HC_CODE_LOST, strlen(HC_CODE_LOST)) == 0)
            return m->warnings[i] + strlen(HC_CODE_LOST);
    return NULL;
}

static void put_samples(struct doc *d, cJSON *usage, const struct hc_samples *samples)
{
    cJSON *list = put_list(d, usage, "samples");
    for (size_t i = 0; i < samples->count; i++) {
        const struct hc_usage_sample *sample = &samples->items[i];
        cJSON *entry = put_object(d, list, NULL);
        put_seconds(d, entry, "t", sample->at_us);
        put_known(d, entry, "memory", sample->memory);
        put_seconds(d, entry, "cpu", sample->cpu_us);
        put_known(d, entry, "pids", sample->pids);
    }
}

static void put_usage(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *usage = put_object(d, root, "usage");
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        const struct hc_usage_row *row = &hc_usage_rows[i];
        int64_t value = hc_usage_get(&m->usage, row);
        if (row->unit == HC_USAGE_SECONDS)
            put_seconds(d, usage, row->name, value);
        else
            put_known(d, usage, row->name, value);
    }
    put_samples(d, usage, &m->samples);
}

static void put_timing(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *timing = put_object(d, root, "timing");
    put_number(d, timing, "queue", 0);
    put_seconds(d, timing, "build", m->timing.build_us);
    put_seconds(d, timing, "start", m->timing.start_us);
    put_seconds(d, timing, "run", m->timing.run_us);
    put_seconds(d, timing, "collect", m->timing.collect_us);
}

static void put_limits(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    static const char section[] = "limits.";
    cJSON *limits = put_object(d, root, "limits");
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (strncmp(opt->path, section, strlen(section)) != 0)
            continue;
        (void)put_item(d, limits, opt->path + strlen(section), hc_option_to_plain_json(m->policy, opt));
    }
    cJSON *by = put_object(d, limits, "enforced_by");
#define HC_ENFORCED(name) put_text_or_null(d, by, #name, m->enforced_by.name);
#include "policy/limits.def"
}

static void put_layers(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *layers = put_object(d, root, "layers");
    for (size_t i = 0; i < m->layer_count; i++) {
        cJSON *layer = put_object(d, layers, m->layers[i].name);
        put_bool(d, layer, "on", m->layers[i].on);
        put_text(d, layer, "evidence", m->layers[i].evidence);
    }
}

static cJSON *put_identity(struct doc *d, cJSON *root, const char *name, const char *called,
                           const char *sha256)
{
    cJSON *identity = put_object(d, root, name);
    put_text(d, identity, "name", called);
    put_text_or_null(d, identity, "sha256", sha256);
    return identity;
}

/* "sha256" only identifies the tree; "checked" tells how much of the tree was compared with its record. */
static void put_tree(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    static const char *const checks[] = {[HC_TREE_NONE] = "none",
                                         [HC_TREE_QUICK] = "quick",
                                         [HC_TREE_STAMPS] = "stamps",
                                         [HC_TREE_CONTENT] = "content"};
    cJSON *tree = put_identity(d, root, "tree", m->tree_name, m->tree_sha256);
    put_text(d, tree, "checked", checks[m->tree_checked]);
    cJSON *layers = m->tree_layers.count ? put_list(d, tree, "layers") : NULL;
    for (size_t i = 0; i < m->tree_layers.count; i++) {
        cJSON *layer = put_object(d, layers, NULL);
        put_text(d, layer, "name", m->tree_layers.list[i].name);
        put_text(d, layer, "sha256", m->tree_layers.list[i].sha256);
    }
}

static void put_sources(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *policy = put_identity(d, root, "policy", m->policy->name, m->policy_sha256);
    put_text_or_null(d, policy, "base_sha256", m->policy->base_sha256);
    if (m->tree_name)
        put_tree(d, root, m);
    else
        put_null(d, root, "tree");
    cJSON *inputs = put_list(d, root, "inputs");
    for (size_t i = 0; i < m->input_count; i++) {
        cJSON *entry = put_object(d, inputs, NULL);
        put_text(d, entry, "name", m->inputs[i].name);
        if (put_name(d, entry, "file", m->inputs[i].file))
            put_bool(d, entry, "escaped", true);
        put_known(d, entry, "bytes", m->inputs[i].bytes);
        put_text_or_null(d, entry, "sha256", m->inputs[i].sha256);
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
static void put_volumes(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *volumes = put_list(d, root, "volumes");
    for (size_t i = 0; i < m->dir_count; i++) {
        const struct hc_manifest_dir *dir = &m->dirs[i];
        if (!dir->volume)
            continue;
        cJSON *entry = put_object(d, volumes, NULL);
        put_text(d, entry, "name", dir->volume);
        if (put_name(d, entry, "place", dir->place))
            put_bool(d, entry, "escaped", true);
        put_bool(d, entry, "kept", dir->kept);
        put_text_or_null(d, entry, "reason", dir->kept || !dir->not_kept ? "" : dir->not_kept);
        if (dir->kept) {
            put_number(d, entry, "bytes", (double)dir->bytes);
            put_number(d, entry, "files", (double)dir->files);
        }
    }
}

static void put_dirs(struct doc *d, cJSON *root, const struct hc_manifest *m)
{
    cJSON *dirs = put_list(d, root, "dirs");
    for (size_t i = 0; i < m->dir_count; i++) {
        if (m->dirs[i].volume)
            continue;
        cJSON *entry = put_object(d, dirs, NULL);
        bool escaped = put_name(d, entry, "host", m->dirs[i].host);
        if (put_name(d, entry, "place", m->dirs[i].place) || escaped)
            put_bool(d, entry, "escaped", true);
        put_text(d, entry, "mode", m->dirs[i].mode);
        if (m->dirs[i].changes)
            (void)put_item(d, entry, "changes", hc_changes_print(m->dirs[i].changes, LISTED_CHANGES));
    }
}

static cJSON *build_document(const struct hc_manifest *m)
{
    struct doc d = {.ok = true};
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
    put_text_or_null(&d, root, "started", m->started);
    put_text_or_null(&d, root, "finished", m->finished);
    if (d.ok)
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* ---- text and signature ---- */

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
    struct doc d = {.ok = true};
    if (!key) {
        put_null(&d, root, "signature");
        return d.ok ? 0 : hc_fail(err, ENOMEM, "manifest");
    }
    char hex[HC_SHA256_HEX];
    char *text = print_unsigned(root);
    int rc = text ? sign_text(text, strlen(text), key, key_len, hex, err) : hc_fail(err, ENOMEM, "manifest");
    free(text);
    if (rc < 0)
        return -1;
    cJSON *signature = put_object(&d, root, "signature");
    put_text(&d, signature, "algorithm", algorithm);
    put_text(&d, signature, "value", hex);
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
    cJSON *root = build_document(m);
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

static void put_full_path(struct doc *d, cJSON *list, const char *dir, const char *path)
{
    hc_autobuf full = {0};
    size_t len = strlen(dir);
    (void)hc_buf_fmt(&full, "%s%s%s", dir, len && dir[len - 1] == '/' ? "" : "/", path);
    if (full.failed)
        d->ok = false;
    else
        (void)put_name(d, list, NULL, full.data);
}

int hc_manifest_print_runner(const struct hc_manifest *m, const char *dir, struct hc_buf *out,
                             struct hc_error *err)
{
    struct doc d = {.ok = true};
    cJSON *root = cJSON_CreateObject();
    put_number(&d, root, "exit_code", m->exit_code);
    cJSON *figures = put_list(&d, root, "figure_paths");
    for (size_t i = 0; i < m->figure_count; i++)
        put_full_path(&d, figures, dir, m->figures[i].path);
    cJSON *code = put_list(&d, root, "code_paths");
    if (m->code_path)
        put_full_path(&d, code, dir, m->code_path);
    put_bool(&d, root, "truncated", m->out.truncated || m->out.shortened);
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
