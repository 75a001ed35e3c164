#include "wire/e2b.h"

#include "base/utf8.h"
#include "job/job.h"
#include "json/json.h"
#include "wire/e2b_envd.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TIMEOUT (7 * 24 * 3600) /* most seconds that a request may name */
#define TRACEBACK    "Traceback (most recent call last):\n"
#define REFUSAL      "  File \"<cell" /* begins the text that says what is refused */
#define REFUSAL_MAX  16384            /* bytes; such a text is shorter */
#define MAX_WARNINGS 20               /* warnings of one run that are passed on */

/* The templates that E2B's own clients ask for unless they are told another. */
static const char *const usual_templates[] = {"base", "code-interpreter", "code-interpreter-v1", "default"};

/* ---- reading ---- */

static int wrong(const struct hc_json *j, const cJSON *node, const char *expected, struct hc_error *err)
{
    return hc_json_fail(j, node, false, err, "%s: expected %s, got %s", node->string ? node->string : "body",
                        expected, hc_json_kind(node));
}

/* Parse a body that has to be an object; an empty one counts as {}. */
static int open_object(struct hc_json *j, const char *text, size_t len, struct hc_error *err)
{
    if (hc_json_parse(j, "request", len ? text : "{}", len ? len : 2, err) < 0)
        return -1;
    if (cJSON_IsObject(j->root))
        return 0;
    (void)wrong(j, j->root, "an object", err);
    hc_json_finish(j);
    return -1;
}

/* A member that is there and not null, of the type that `is` tells; -1: it has another type. */
static int take(const struct hc_json *j, const char *name, cJSON_bool (*is)(const cJSON *),
                const char *expected, const cJSON **out, struct hc_error *err)
{
    const cJSON *node = hc_json_member(j->root, name);
    *out = NULL;
    if (!node || cJSON_IsNull(node))
        return 0;
    if (!is(node))
        return wrong(j, node, expected, err);
    *out = node;
    return 0;
}

static int take_timeout(const struct hc_json *j, int64_t otherwise, int64_t *out, struct hc_error *err)
{
    const cJSON *node;
    if (take(j, "timeout", cJSON_IsNumber, "a number of seconds", &node, err) < 0)
        return -1;
    *out = otherwise;
    if (!node)
        return 0;
    if (!(node->valuedouble >= 0 && node->valuedouble <= MOST_TIMEOUT))
        return hc_json_fail(j, node, false, err, "timeout: expected 0 to %d seconds", MOST_TIMEOUT);
    *out = (int64_t)node->valuedouble;
    return 0;
}

int hc_e2b_timeout(const char *text, size_t len, int64_t otherwise, int64_t *timeout_s, struct hc_error *err)
{
    struct hc_json j;
    if (open_object(&j, text, len, err) < 0)
        return -1;
    int rc = take_timeout(&j, otherwise, timeout_s, err);
    hc_json_finish(&j);
    return rc;
}

/* ---- a new sandbox ---- */

/* Is `word` one of the words of a list that are separated by blanks? */
static bool is_listed(const char *list, const char *word)
{
    const size_t wanted = strlen(word);
    for (size_t n; wanted && *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n == wanted && memcmp(list, word, n) == 0)
            return true;
    }
    return false;
}

/* The policy that a template stands for; NULL: there is no such template. */
static const char *policy_of(const struct hc_e2b_rules *rules, const char *template)
{
    if (is_listed(rules->templates, template))
        return template;
    if (!*template || strcmp(template, rules->policy) == 0)
        return rules->policy;
    for (size_t i = 0; i < sizeof usual_templates / sizeof *usual_templates; i++)
        if (strcmp(usual_templates[i], template) == 0)
            return rules->policy;
    return NULL;
}

/* Does the member ask for something? */
static bool asks(const cJSON *node)
{
    return node && !cJSON_IsNull(node) && !cJSON_IsFalse(node) &&
           !((cJSON_IsObject(node) || cJSON_IsArray(node)) && !node->child);
}

/* Members of a request for what no sandbox has here: without it the client's program would not do what it is
 * meant to do. */
static int refuse_missing(const struct hc_json *j, struct hc_error *err)
{
    static const struct {
        const char *name, *why;
    } missing[] = {
        {"autoPause", "a sandbox whose time is over is ended here, and not paused"},
        {"autoResume", "a sandbox whose time is over is ended here, and not resumed"},
        {"mcp", "sandboxes have no servers of MCP here"},
        {"network", "what a sandbox reaches in the network is said by its policy here"},
        {"iam", "sandboxes have no tokens of workloads here"},
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (asks(hc_json_member(j->root, missing[i].name)) &&
            !cJSON_IsFalse(hc_json_member(hc_json_member(j->root, missing[i].name), "enabled")))
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s: %s", missing[i].name, missing[i].why);
    return 0;
}

/* "volumeMounts": [{"name", "path"}] becomes "volumes": [{"name", "place"}]. */
static int put_volumes(cJSON *spec, const struct hc_json *j, struct hc_error *err)
{
    const cJSON *mounts, *mount;
    if (take(j, "volumeMounts", cJSON_IsArray, "a list", &mounts, err) < 0)
        return -1;
    cJSON *volumes = mounts && mounts->child ? cJSON_AddArrayToObject(spec, "volumes") : NULL;
    if (mounts && mounts->child && !volumes)
        return hc_fail(err, ENOMEM, "request");
    cJSON_ArrayForEach(mount, mounts)
    {
        cJSON *volume = cJSON_CreateObject();
        if (!volume || !cJSON_AddItemToArray(volumes, volume) ||
            !cJSON_AddStringToObject(volume, "name", hc_json_text(mount, "name")) ||
            !cJSON_AddStringToObject(volume, "place", hc_json_text(mount, "path")))
            return hc_fail(err, ENOMEM, "request");
    }
    return 0;
}

/* Copy an object of strings under the name that a session's request has for it. */
static int put_strings(cJSON *spec, const char *as, const struct hc_json *j, const char *name,
                       struct hc_error *err)
{
    const cJSON *from, *item;
    if (take(j, name, cJSON_IsObject, "an object", &from, err) < 0)
        return -1;
    if (!from)
        return 0;
    cJSON_ArrayForEach(item, from) if (!cJSON_IsString(item)) return wrong(j, item, "a string", err);
    cJSON *copy = cJSON_Duplicate(from, true);
    return copy && cJSON_AddItemToObject(spec, as, copy) ? 0 : hc_fail(err, ENOMEM, "request");
}

static int put_sandbox(cJSON *spec, const struct hc_e2b_rules *rules, const struct hc_json *j,
                       int64_t *timeout_s, struct hc_error *err)
{
    const cJSON *template;
    if (take(j, "templateID", cJSON_IsString, "a string", &template, err) < 0 ||
        take_timeout(j, HC_E2B_TIMEOUT, timeout_s, err) < 0 || refuse_missing(j, err) < 0)
        return -1;
    const char *name = template ? template->valuestring : "";
    const char *policy = policy_of(rules, name);
    if (!policy)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "template '%.64s' not found: there are base%s%s", name,
                          *rules->templates ? " and " : "", rules->templates);
    if (!cJSON_AddStringToObject(spec, "policy", policy))
        return hc_fail(err, ENOMEM, "request");
    if (put_strings(spec, "env", j, "envVars", err) < 0 ||
        put_strings(spec, "labels", j, "metadata", err) < 0)
        return -1;
    return put_volumes(spec, j, err);
}

int hc_e2b_spec(const struct hc_e2b_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                int64_t *timeout_s, struct hc_error *err)
{
    struct hc_json j;
    if (open_object(&j, text, len, err) < 0)
        return -1;
    cJSON *object = cJSON_CreateObject();
    int rc = object ? put_sandbox(object, rules, &j, timeout_s, err) : hc_fail(err, ENOMEM, "request");
    hc_json_finish(&j);
    if (rc == 0)
        return hc_json_print(spec, object, "request", err);
    cJSON_Delete(object);
    return rc;
}

/* ---- code ---- */

/* The languages: Python, and one that is a command of a tree. */
static bool is_command(const char *language)
{
    return strcmp(language, "bash") == 0;
}

static int check_language(const char *language, struct hc_error *err)
{
    if (strcmp(language, "python") == 0 || is_command(language))
        return 0;
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "language '%.40s' not found: there are python and bash",
                      language);
}

static int put_program(cJSON *run, const char *language, const char *code)
{
    if (!is_command(language))
        return cJSON_AddStringToObject(run, "code", code) ? 0 : -1;
    const char *const words[] = {"bash", "-c", code};
    cJSON *command = cJSON_CreateStringArray(words, sizeof words / sizeof *words);
    return command && cJSON_AddItemToObject(run, "command", command) ? 0 : -1;
}

const char *hc_e2b_context(const struct hc_e2b_contexts *c, const char *id)
{
    const cJSON *one;
    if (strcmp(id, c->first) == 0)
        return HC_CONTEXT_MAIN;
    cJSON_ArrayForEach(one, c->items)
    {
        const char *name = hc_json_text(one, "name");
        if (strcmp(name, id) == 0 && strcmp(name, HC_CONTEXT_MAIN) != 0)
            return name;
    }
    return NULL;
}

static int put_run(cJSON *line, const struct hc_e2b_contexts *contexts, const char **context,
                   const struct hc_json *j, struct hc_error *err)
{
    const cJSON *code, *id, *language;
    if (take(j, "code", cJSON_IsString, "a string", &code, err) < 0 ||
        take(j, "context_id", cJSON_IsString, "a string", &id, err) < 0 ||
        take(j, "language", cJSON_IsString, "a string", &language, err) < 0)
        return -1;
    if (!code)
        return hc_json_fail(j, j->root, false, err, "code: expected a string, got nothing");
    *context = hc_e2b_context(contexts, id ? id->valuestring : contexts->first);
    if (!*context)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "Context %.64s not found", id->valuestring);
    const char *name = language ? language->valuestring : "python";
    if (check_language(name, err) < 0)
        return -1;
    cJSON *run = cJSON_AddObjectToObject(line, "run");
    const bool named =
        strcmp(*context, HC_CONTEXT_MAIN) == 0 || cJSON_AddStringToObject(run, "context", *context);
    if (!run || !named || put_program(run, name, code->valuestring) < 0)
        return hc_fail(err, ENOMEM, "request");
    return put_strings(run, "env", j, "env_vars", err);
}

int hc_e2b_execute(const struct hc_e2b_contexts *contexts, const char *text, size_t len, const char **context,
                   struct hc_buf *line, struct hc_error *err)
{
    struct hc_json j;
    if (open_object(&j, text, len, err) < 0)
        return -1;
    cJSON *object = cJSON_CreateObject();
    int rc = object ? put_run(object, contexts, context, &j, err) : hc_fail(err, ENOMEM, "request");
    hc_json_finish(&j);
    if (rc == 0)
        return hc_json_print(line, object, "request", err);
    cJSON_Delete(object);
    return rc;
}

int hc_e2b_new_context(const char *text, size_t len, struct hc_buf *line, struct hc_error *err)
{
    struct hc_json j;
    const cJSON *language, *cwd;
    hc_autobuf path = {0};
    if (open_object(&j, text, len, err) < 0)
        return -1;
    int rc = take(&j, "language", cJSON_IsString, "a string", &language, err) < 0 ||
                     take(&j, "cwd", cJSON_IsString, "a string", &cwd, err) < 0
                 ? -1
                 : 0;
    if (rc == 0 && language && strcmp(language->valuestring, "python") != 0)
        rc = hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "language '%.40s' not found: contexts are of python",
                        language->valuestring);
    if (rc == 0) {
        hc_e2b_place(cwd ? cwd->valuestring : "", &path);
        (void)hc_buf_str(line, "{\"new_context\": {\"workdir\": ");
        hc_json_quote(line, path.data ? path.data : "", path.len);
        (void)hc_buf_str(line, "}}");
        line->failed |= path.failed;
    }
    hc_json_finish(&j);
    return rc;
}

void hc_e2b_put_context(const cJSON *context, const char *first, struct hc_buf *out)
{
    const char *name = hc_json_text(context, "name"), *cwd = hc_json_text(context, "workdir");
    (void)hc_buf_fmt(out, "{\"id\": \"%s\", \"language\": \"python\", \"cwd\": ",
                     strcmp(name, HC_CONTEXT_MAIN) == 0 ? first : name);
    hc_json_quote(out, cwd, strlen(cwd));
    (void)hc_buf_str(out, "}");
}

/* ---- labels ---- */

/* The value of a hexadecimal digit; -1: it is none. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decode one part of a URL's query, of `len` bytes, as far as there is room. */
static void decode(const char *text, size_t len, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < room; i++) {
        const int high = text[i] == '%' && len - i > 2 ? digit_of(text[i + 1]) : -1;
        const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
        out[n++] = low >= 0 ? (char)(high * 16 + low) : text[i] == '+' ? ' ' : text[i];
        i += low >= 0 ? 2 : 0;
    }
    out[n] = '\0';
}

bool hc_e2b_labels_fit(const cJSON *labels, const char *wanted)
{
    for (size_t n; *wanted; wanted += n + (wanted[n] == '&')) {
        n = strcspn(wanted, "&");
        char once[1024] = "", name[512] = "", value[512] = "";
        const char *equals = memchr(wanted, '=', n);
        const size_t head = equals ? (size_t)(equals - wanted) : n;
        if (n == 0)
            continue;
        /* E2B's clients encode names and values twice. */
        decode(wanted, head, once, sizeof once);
        decode(once, strlen(once), name, sizeof name);
        decode(equals ? equals + 1 : "", equals ? n - head - 1 : 0, once, sizeof once);
        decode(once, strlen(once), value, sizeof value);
        const char *has = cJSON_GetStringValue(hc_json_member(labels, name));
        if (!has || strcmp(has, value) != 0)
            return false;
    }
    return true;
}

/* ---- the events of a run ---- */

void hc_e2b_events_finish(struct hc_e2b_events *e)
{
    hc_buf_finish(&e->held);
}

/* Append an object as one line; `whole`: it could be made. */
static void put_line(cJSON *object, bool whole, struct hc_buf *out)
{
    char *text = whole ? cJSON_PrintUnformatted(object) : NULL;
    if (text) {
        (void)hc_buf_str(out, text);
        (void)hc_buf_str(out, "\n");
    }
    out->failed |= !text;
    cJSON_free(text);
    cJSON_Delete(object);
}

static void put_output(const struct hc_e2b_events *e, const char *type, const char *text, struct hc_buf *out)
{
    cJSON *o = cJSON_CreateObject();
    if (*text)
        put_line(o,
                 o && cJSON_AddStringToObject(o, "type", type) && cJSON_AddStringToObject(o, "text", text) &&
                     cJSON_AddStringToObject(o, "timestamp", e->now),
                 out);
    else
        cJSON_Delete(o);
}

/* The last place in `text` where `part` is, as far as it does not overlap an earlier one; NULL: none. Both
 * are the program's, so a place is looked for once behind each that was found, and not at each letter. */
static char *find_last(char *text, const char *part)
{
    const size_t len = strlen(part), all = strlen(text);
    char *found = NULL;
    if (len == 0 || len > all)
        return NULL;
    if (memcmp(text + all - len, part, len) == 0)
        return text + all - len;
    for (char *at = strstr(text, part); at; at = strstr(at + len, part))
        found = at;
    return found;
}

/* Write what is held of standard error, without the last `traceback` in it. */
static void release(struct hc_e2b_events *e, const char *traceback, struct hc_buf *out)
{
    if (!e->held.len)
        return;
    char *found = find_last(e->held.data, traceback);
    if (found) {
        const char *rest = found + strlen(traceback);
        memmove(found, rest, strlen(rest) + 1);
    }
    put_output(e, "stderr", e->held.data, out);
    hc_buf_clear(&e->held);
}

/* The traceback of a program's end, and the place of what is refused, are printed, too: E2B's clients get
 * them in the error alone. What may be one is held until it is known what comes behind it. */
static void take_stderr(struct hc_e2b_events *e, const char *text, struct hc_buf *out)
{
    (void)hc_buf_str(&e->held, text);
    if (!e->held.len || strstr(e->held.data, TRACEBACK))
        return;
    if (e->held.len > REFUSAL_MAX || strncmp(e->held.data, REFUSAL, strlen(REFUSAL)) != 0)
        release(e, "", out);
}

/* The members of a result, and the types of a value that become them. */
static const struct {
    const char *mime, *member;
} members[] = {
    {"text/plain", "text"},        {"text/html", "html"},
    {"text/markdown", "markdown"}, {"image/svg+xml", "svg"},
    {"image/png", "png"},          {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},    {"text/latex", "latex"},
    {"application/json", "json"},  {"application/javascript", "javascript"},
};

static const char *member_of(const char *mime)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].mime, mime) == 0)
            return members[i].member;
    return NULL;
}

/* A text in quotes is shown without them. */
static cJSON *plain_text(const char *text)
{
    const size_t len = strlen(text);
    if (len < 2 || text[0] != '\'' || text[len - 1] != '\'')
        return cJSON_CreateString(text);
    char *inner = strndup(text + 1, len - 2);
    cJSON *string = inner ? cJSON_CreateString(inner) : NULL;
    free(inner);
    return string;
}

/* Add a table's columns, {NAME: [VALUE, ...]}, as "data": the rows of the table are objects. */
static bool put_columns(cJSON *result, const cJSON *table)
{
    const cJSON *rows = hc_json_member(table, "data"), *row, *cell;
    if (hc_json_is_true(table, "truncated") || !cJSON_IsArray(rows))
        return true;
    cJSON *data = cJSON_AddObjectToObject(result, "data");
    cJSON_ArrayForEach(row, rows)
    {
        cJSON_ArrayForEach(cell, row)
        {
            if (!data || !cell->string)
                return false;
            if (strcmp(cell->string, "index") == 0)
                continue;
            cJSON *column = cJSON_GetObjectItemCaseSensitive(data, cell->string);
            if (!column && !(column = cJSON_AddArrayToObject(data, cell->string)))
                return false;
            cJSON *copy = cJSON_Duplicate(cell, true);
            if (!copy || !cJSON_AddItemToArray(column, copy))
                return false;
        }
    }
    return data != NULL;
}

static bool put_form(cJSON *result, const cJSON *form)
{
    const char *member = member_of(form->string), *text = cJSON_GetStringValue(form);
    if (strcmp(form->string, "application/vnd.dataresource+json") == 0)
        return put_columns(result, form);
    if (!member)
        return true;
    const bool json = strcmp(member, "json") == 0;
    if (json ? !cJSON_IsObject(form) && !cJSON_IsArray(form) : !text)
        return true;
    cJSON *copy = strcmp(member, "text") == 0 ? plain_text(text) : cJSON_Duplicate(form, true);
    return copy && cJSON_AddItemToObject(result, member, copy);
}

/* The value of the last expression: the main result. */
static void put_value(const cJSON *value, struct hc_buf *out)
{
    const cJSON *form;
    if (!cJSON_IsObject(value) || !value->child)
        return;
    cJSON *result = cJSON_CreateObject();
    bool whole = result && cJSON_AddStringToObject(result, "type", "result");
    cJSON_ArrayForEach(form, value) whole = whole && put_form(result, form);
    put_line(result, whole && cJSON_AddTrueToObject(result, "is_main_result"), out);
}

/* What the program's process has said of the chart in a figure; NULL: nothing. */
static const cJSON *find_chart(const cJSON *guest, const char *path)
{
    const cJSON *figure;
    cJSON_ArrayForEach(figure, hc_json_member(guest, "figures"))
    {
        if (strcmp(hc_json_text(figure, "path"), path) == 0)
            return hc_json_member(figure, "chart");
    }
    return NULL;
}

/* A figure, with the data of its chart if there are any. */
static void put_figure(const struct hc_e2b_events *e, const cJSON *figure, const cJSON *chart,
                       struct hc_buf *out)
{
    const char *member = member_of(hc_json_text(figure, "mime"));
    hc_autobuf data = {0};
    if (!member || strcmp(member, "text") == 0 || !e->figure(e->owner, hc_json_text(figure, "path"), &data))
        return;
    (void)hc_buf_fmt(out, "{\"type\": \"result\", \"%s\": ", member);
    hc_json_quote(out, data.data ? data.data : "", data.len);
    char *text = cJSON_IsObject(chart) ? cJSON_PrintUnformatted(chart) : NULL;
    if (text)
        (void)hc_buf_fmt(out, ", \"chart\": %s", text);
    cJSON_free(text);
    (void)hc_buf_str(out, ", \"is_main_result\": false}\n");
}

static void put_error(const char *name, const char *value, const char *traceback, struct hc_buf *out)
{
    cJSON *o = cJSON_CreateObject();
    put_line(o,
             o && cJSON_AddStringToObject(o, "type", "error") && cJSON_AddStringToObject(o, "name", name) &&
                 cJSON_AddStringToObject(o, "value", value) &&
                 cJSON_AddStringToObject(o, "traceback", traceback),
             out);
}

/* The traceback of the run's end: of one that was refused, the text that says where, and for which rule. */
static const char *traceback_of(const cJSON *manifest)
{
    if (!cJSON_IsObject(hc_json_member(manifest, "rejection")))
        return hc_json_text(hc_json_member(hc_json_member(manifest, "guest"), "error"), "traceback");
    const char *text = hc_json_text(hc_json_member(manifest, "stderr"), "text");
    return *text ? text : hc_json_text(manifest, "reason");
}

/* How the run ended, unless it ended well: an exception, a refusal, or a limit. */
static void put_end(const cJSON *manifest, struct hc_buf *out)
{
    const char *status = hc_json_text(manifest, "status"), *reason = hc_json_text(manifest, "reason");
    const cJSON *error = hc_json_member(hc_json_member(manifest, "guest"), "error");
    const cJSON *rejection = hc_json_member(manifest, "rejection");
    if (strcmp(status, "ok") == 0)
        return;
    if (cJSON_IsObject(error))
        put_error(hc_json_text(error, "type"), hc_json_text(error, "message"), traceback_of(manifest), out);
    else if (cJSON_IsObject(rejection))
        put_error(strcmp(hc_json_text(rejection, "rule"), "syntax") == 0 ? "SyntaxError" : "Rejected",
                  hc_json_text(rejection, "message"), traceback_of(manifest), out);
    else
        put_error(strcmp(status, "timeout") == 0 ? "TimeoutError" : status, reason, reason, out);
}

/* Such as that a line "!pip install" was left out: no other line of the answer could say it. */
static void put_warnings(const struct hc_e2b_events *e, const cJSON *manifest, struct hc_buf *out)
{
    const cJSON *warning;
    int n = 0;
    cJSON_ArrayForEach(warning, hc_json_member(manifest, "warnings"))
    {
        hc_autobuf text = {0};
        if (!cJSON_IsString(warning) || n++ == MAX_WARNINGS)
            break;
        out->failed |= hc_buf_fmt(&text, "hotcell: %s\n", warning->valuestring) < 0;
        put_output(e, "stderr", text.data ? text.data : "", out);
    }
}

/* That the run was undone: its error does not say which variables the next run finds. */
static void put_state(const struct hc_e2b_events *e, const char *state, struct hc_buf *out)
{
    hc_autobuf text = {0};
    if (strncmp(state, "rolled back", strlen("rolled back")) != 0)
        return;
    out->failed |= hc_buf_fmt(&text, "hotcell: the run is undone: the variables were %s\n", state) < 0;
    put_output(e, "stderr", text.data ? text.data : "", out);
}

static void put_result(struct hc_e2b_events *e, const cJSON *event, struct hc_buf *out)
{
    const cJSON *manifest = hc_json_member(event, "manifest"), *guest = hc_json_member(manifest, "guest");
    const cJSON *figure;
    release(e, traceback_of(manifest), out);
    put_warnings(e, manifest, out);
    put_state(e, hc_json_text(event, "state"), out);
    cJSON_ArrayForEach(figure, hc_json_member(manifest, "figures"))
        put_figure(e, figure, find_chart(guest, hc_json_text(figure, "path")), out);
    put_value(hc_json_member(guest, "value"), out);
    put_end(manifest, out);
    (void)hc_buf_fmt(out,
                     "{\"type\": \"number_of_executions\", \"execution_count\": %lld}\n"
                     "{\"type\": \"end_of_execution\"}\n",
                     (long long)hc_json_int(event, "run", 0));
}

/* Output that is no text comes as base64: what is wrong in it is replaced. */
static void scrub_data(const char *base64, struct hc_buf *out)
{
    const size_t room = strlen(base64) + 1;
    unsigned char *bytes = malloc(room);
    size_t len = 0;
    if (bytes && sodium_base642bin(bytes, room, base64, room - 1, NULL, &len, NULL,
                                   sodium_base64_VARIANT_ORIGINAL) == 0) {
        for (size_t i = 0; i < len; i++)
            bytes[i] = bytes[i] ? bytes[i] : ' '; /* a NUL byte would end the text for C */
        (void)hc_utf8_scrub(out, (const char *)bytes, len);
    }
    free(bytes);
}

void hc_e2b_event(struct hc_e2b_events *e, const char *line, size_t len, struct hc_buf *out)
{
    cJSON *event = cJSON_ParseWithLength(line, len);
    const char *kind = hc_json_text(event, "event"), *data = hc_json_text(event, "data");
    hc_autobuf scrubbed = {0};
    if (*data)
        scrub_data(data, &scrubbed);
    const char *text = *data && scrubbed.data ? scrubbed.data : hc_json_text(event, "text");
    if (strcmp(kind, "stderr") == 0)
        take_stderr(e, text, out);
    else if (strcmp(kind, "result") == 0)
        put_result(e, event, out);
    else if (strcmp(kind, "stdout") == 0) {
        release(e, "", out);
        put_output(e, "stdout", text, out);
    } else if (strcmp(kind, "problem") == 0 || strcmp(kind, "error") == 0) {
        const char *why = hc_json_text(hc_json_member(event, "problem"), "detail");
        release(e, "", out);
        put_error("SandboxError", *why ? why : hc_json_text(event, "message"), "", out);
    }
    cJSON_Delete(event);
}

void hc_e2b_error(int code, const char *message, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"code\": %d, \"message\": ", code);
    hc_json_quote(out, message, hc_utf8_whole(message));
    (void)hc_buf_str(out, "}\n");
}
