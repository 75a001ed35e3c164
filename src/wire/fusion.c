#include "wire/fusion_parts.h"

#include "job/job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_FILES 63   /* most files of a request; a job has 64 inputs, of which one may be its own */
#define MOST_FETCH 256  /* most files that a request may want back */
#define MOST_PATH  1024 /* most bytes of the path of such a file */
#define MOST_MB    1e12 /* most megabytes that a request may name */
#define TEST_FILE  "test_main.py"

/* The languages: Python, and those that are commands of a tree, which get the code as an argument or, if
 * `file` is set, as a file of that name. */
static const struct hc_fusion_language {
    const char *name;
    const char *command[6]; /* up to NULL; none: a program in Python */
    const char *file;
} languages[] = {
    {"python", {NULL}, NULL},
    {"bash", {"bash", "-c", NULL}, NULL},
    {"pytest", {"python3", "-m", "pytest", "-q", TEST_FILE, NULL}, TEST_FILE},
};

#define LANGUAGES (sizeof languages / sizeof *languages)

/* ---- a request ---- */

static int wrong(const struct hc_fusion_request *r, const cJSON *node, const char *expected,
                 struct hc_error *err)
{
    return hc_json_fail(&r->json, node, false, err, "%s: expected %s, got %s", node->string, expected,
                        hc_json_kind(node));
}

/* A member that is there and not null, of the type that `is` tells; -1: it has another type. */
int hc_fusion_take(const struct hc_fusion_request *r, const char *name, cJSON_bool (*is)(const cJSON *),
                   const char *expected, const cJSON **out, struct hc_error *err)
{
    const cJSON *node = hc_json_member(r->json.root, name);
    *out = NULL;
    if (!node || cJSON_IsNull(node))
        return 0;
    if (!is(node))
        return wrong(r, node, expected, err);
    *out = node;
    return 0;
}

/* The names of the languages that there are. */
static void list_languages(const struct hc_fusion_rules *rules, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < LANGUAGES; i++) {
        if (languages[i].command[0] && !*rules->commands)
            continue;
        int n = snprintf(out + used, size - used, "%s%s", used ? ", " : "", languages[i].name);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
}

static int take_language(struct hc_fusion_request *r, struct hc_error *err)
{
    const cJSON *node;
    char list[80];
    if (hc_fusion_take(r, "language", cJSON_IsString, "a string", &node, err) < 0)
        return -1;
    const char *name = node ? node->valuestring : "python";
    for (size_t i = 0; i < LANGUAGES; i++)
        if (strcmp(languages[i].name, name) == 0 && (!languages[i].command[0] || *r->rules->commands)) {
            r->language = &languages[i];
            r->own_file = languages[i].file;
        }
    list_languages(r->rules, list, sizeof list);
    return r->language ? 0
                       : hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                                    "language '%.40s' is not there: expected one of %s", name, list);
}

/* A number of seconds or megabytes above 0; -1 stands for none, as null does. */
int hc_fusion_take_amount(struct hc_fusion_request *r, const char *name, double *out, struct hc_error *err)
{
    const cJSON *node;
    if (hc_fusion_take(r, name, cJSON_IsNumber, "a number", &node, err) < 0)
        return -1;
    *out = node && node->valuedouble != -1 ? node->valuedouble : 0;
    if (!node || node->valuedouble == -1 || (*out > 0 && *out <= MOST_MB))
        return 0;
    return hc_json_fail(&r->json, node, false, err, "%s: expected a number above 0, or -1", name);
}

int hc_fusion_check_files(const struct hc_fusion_request *r, struct hc_error *err)
{
    const cJSON *file;
    if (cJSON_GetArraySize(r->files) > MOST_FILES)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "files: more than %d", MOST_FILES);
    cJSON_ArrayForEach(file, r->files)
    {
        const char *bad = hc_job_bad_place(file->string);
        if (bad)
            return hc_json_fail(&r->json, file, true, err, "files: '%.80s': %s", file->string, bad);
        if (!cJSON_IsString(file) && !cJSON_IsNull(file))
            return hc_json_fail(&r->json, file, false, err, "files: expected base64, got %s",
                                hc_json_kind(file));
        if (r->own_file && strcmp(r->own_file, file->string) == 0)
            return hc_json_fail(&r->json, file, true, err, "files: '%s' is the code itself", file->string);
    }
    return 0;
}

int hc_fusion_check_strings(const struct hc_fusion_request *r, const cJSON *list, struct hc_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item))
            return hc_json_fail(&r->json, item, false, err, "%s: expected strings, got %s", list->string,
                                hc_json_kind(item));
    }
    return 0;
}

/* The list is kept, and each file of it looked for, by the process that serves all clients. */
static int check_fetch(const struct hc_fusion_request *r, struct hc_error *err)
{
    const cJSON *path;
    if (cJSON_GetArraySize(r->fetch) > MOST_FETCH)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "fetch_files: more than %d", MOST_FETCH);
    cJSON_ArrayForEach(path, r->fetch)
    {
        if (strlen(path->valuestring) > MOST_PATH)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "fetch_files: a path of more than %d bytes",
                              MOST_PATH);
    }
    return 0;
}

int hc_fusion_take_common(struct hc_fusion_request *r, struct hc_error *err)
{
    if (hc_fusion_take(r, "files", cJSON_IsObject, "an object", &r->files, err) < 0 ||
        hc_fusion_take(r, "fetch_files", cJSON_IsArray, "a list", &r->fetch, err) < 0 ||
        hc_fusion_take_amount(r, "memory_limit_MB", &r->memory_mb, err) < 0 ||
        hc_fusion_check_strings(r, r->fetch, err) < 0)
        return -1;
    return check_fetch(r, err);
}

static int read_request(struct hc_fusion_request *r, struct hc_error *err)
{
    if (!cJSON_IsObject(r->json.root))
        return hc_json_fail(&r->json, r->json.root, false, err, "expected an object, got %s",
                            hc_json_kind(r->json.root));
    if (hc_fusion_take(r, "code", cJSON_IsString, "a string", &r->code, err) < 0)
        return -1;
    if (!r->code)
        return hc_json_fail(&r->json, r->json.root, false, err, "code: expected a string, got nothing");
    if (hc_fusion_take(r, "stdin", cJSON_IsString, "a string", &r->stdin_text, err) < 0 ||
        hc_fusion_take(r, "args", cJSON_IsArray, "a list", &r->args, err) < 0 ||
        hc_fusion_take_amount(r, "run_timeout", &r->timeout_s, err) < 0 || hc_fusion_take_common(r, err) < 0)
        return -1;
    if (hc_fusion_check_strings(r, r->args, err) < 0 || take_language(r, err) < 0)
        return -1;
    return hc_fusion_check_files(r, err);
}

/* ---- its spec ---- */

/* Appends a value as the request has written it: bodies are large, and most of a spec is such values. */
void hc_fusion_put_source(struct hc_buf *out, const struct hc_json *json, const cJSON *node)
{
    size_t len = 0;
    const char *text = hc_json_source(json, node, &len);
    (void)hc_buf_add(out, text ? text : "null", text ? len : 4);
}

void hc_fusion_put_string(struct hc_buf *out, const char *text)
{
    hc_json_quote(out, text, strlen(text));
}

/* Appends the elements of a list, each behind a comma. */
static void put_elements(struct hc_buf *out, const struct hc_json *json, const cJSON *list)
{
    size_t len = 0;
    const char *text = list && list->child ? hc_json_source(json, list, &len) : NULL;
    if (!text)
        return;
    (void)hc_buf_str(out, ",");
    (void)hc_buf_add(out, text + 1, len - 2); /* without the brackets */
}

/* The program: "code", or a "command" with the code and the arguments of the request. */
static void put_program(struct hc_buf *out, const struct hc_fusion_request *r)
{
    const struct hc_fusion_language *l = r->language;
    (void)hc_buf_str(out, l->command[0] ? "\"command\":[" : "\"code\":");
    if (!l->command[0]) {
        hc_fusion_put_source(out, &r->json, r->code);
        if (r->args) {
            (void)hc_buf_str(out, ",\"args\":");
            hc_fusion_put_source(out, &r->json, r->args);
        }
        return;
    }
    for (size_t i = 0; l->command[i]; i++) {
        (void)hc_buf_str(out, i ? "," : "");
        hc_fusion_put_string(out, l->command[i]);
    }
    if (!l->file) {
        (void)hc_buf_str(out, ",");
        hc_fusion_put_source(out, &r->json, r->code);
        (void)hc_buf_str(out, ",");
        hc_fusion_put_string(out, l->name);
    }
    put_elements(out, &r->json, r->args);
    (void)hc_buf_str(out, "]");
}

/* Begins one file of the working directory, up to its content. Its variable has a name that programs do not
 * have. */
static void begin_file(struct hc_buf *out, int number, const char *path, const char *member)
{
    (void)hc_buf_fmt(out, "%s\"_file_%d:raw\":{\"place\":", number > 1 ? "," : "", number);
    hc_fusion_put_string(out, path);
    (void)hc_buf_fmt(out, ",\"%s\":", member);
}

static void put_files(struct hc_buf *out, const struct hc_fusion_request *r)
{
    const char *own = r->own_file;
    const cJSON *file;
    int number = 0;
    if (!own && !(r->files && r->files->child))
        return;
    (void)hc_buf_str(out, ",\"inputs\":{");
    cJSON_ArrayForEach(file, r->files)
    {
        begin_file(out, ++number, file->string, "data");
        if (cJSON_IsString(file))
            hc_fusion_put_source(out, &r->json, file);
        else
            hc_fusion_put_string(out, "");
        (void)hc_buf_str(out, "}");
    }
    if (own) {
        begin_file(out, ++number, own, "text");
        hc_fusion_put_source(out, &r->json, r->code);
        (void)hc_buf_str(out, "}");
    }
    (void)hc_buf_str(out, "}");
}

/* The members that programs and notebooks have in common. */
void hc_fusion_put_common(struct hc_buf *out, const struct hc_fusion_request *r, const char *policy)
{
    put_files(out, r);
    (void)hc_buf_str(out, ",\"limits\":{");
    if (r->timeout_s > 0)
        (void)hc_buf_fmt(out, "\"timeout\":\"%.0fms\"", ceil(r->timeout_s * 1000));
    if (r->memory_mb > 0)
        (void)hc_buf_fmt(out, "%s\"memory\":\"%.0fM\"", r->timeout_s > 0 ? "," : "", ceil(r->memory_mb));
    (void)hc_buf_str(out, "},\"policy\":");
    hc_fusion_put_string(out, policy);
    (void)hc_buf_str(out, ",\"interface\":\"http\"");
}

static void put_spec(struct hc_buf *out, const struct hc_fusion_request *r)
{
    (void)hc_buf_str(out, "{");
    put_program(out, r);
    hc_fusion_put_common(out, r, r->language->command[0] ? r->rules->commands : r->rules->policy);
    if (r->stdin_text) {
        (void)hc_buf_str(out, ",\"stdin\":");
        hc_fusion_put_source(out, &r->json, r->stdin_text);
    }
    (void)hc_buf_str(out, "}");
}

/* Takes a list out of the request, unless it is empty; the caller owns it. */
cJSON *hc_fusion_take_list(const struct hc_fusion_request *r, const cJSON *list)
{
    return list && list->child ? cJSON_DetachItemFromObjectCaseSensitive(r->json.root, list->string) : NULL;
}

int hc_fusion_spec(const struct hc_fusion_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                   cJSON **fetch, struct hc_error *err)
{
    struct hc_fusion_request r = {.rules = rules};
    *fetch = NULL;
    if (hc_json_parse(&r.json, "request", text, len, err) < 0)
        return -1;
    int rc = read_request(&r, err);
    if (rc == 0)
        put_spec(spec, &r);
    if (rc == 0 && spec->failed)
        rc = hc_fail(err, ENOMEM, "request");
    if (rc == 0)
        *fetch = hc_fusion_take_list(&r, r.fetch);
    hc_json_finish(&r.json);
    return rc;
}

/* ---- the answer ---- */

/* What a manifest says of a program's end, in SandboxFusion's words. */
struct verdict {
    const char *status; /* the answer's member "status" */
    const char *run;    /* status of the run; NULL: there was none */
    bool exited;        /* `code` is known */
    int code;           /* exit status; negative: the number of a signal */
};

static struct verdict judge(const cJSON *manifest)
{
    const char *status = hc_json_text(manifest, "status");
    const cJSON *process = hc_json_member(manifest, "process");
    const int exit = (int)hc_json_int(process, "exit", -1), signal = (int)hc_json_int(process, "signal", 0);
    struct verdict v = {
        .status = "Failed", .run = "Finished", .exited = true, .code = exit < 0 ? -signal : exit};
    if (strcmp(status, "ok") == 0)
        return (struct verdict){.status = "Success", .run = "Finished", .exited = true, .code = 0};
    if (strcmp(status, "launch_failed") == 0 || !*status)
        return (struct verdict){.status = "SandboxError"};
    if (strcmp(status, "timeout") == 0 || strcmp(status, "cpu") == 0)
        return (struct verdict){.status = "Failed", .run = "TimeLimitExceeded"};
    if (v.code == 0 || strcmp(status, "rejected") == 0) /* refused before it ran, or ended by another limit */
        v.code = 1;
    return v;
}

/* The text of standard error. What Python itself would have printed about a program that was refused, such as
 * a syntax error, is there already. */
static bool put_stderr(cJSON *run, const cJSON *manifest)
{
    const char *text = hc_json_text(hc_json_member(manifest, "stderr"), "text");
    const char *reason = hc_json_text(manifest, "reason");
    const char *status = hc_json_text(manifest, "status");
    bool said = strcmp(status, "ok") == 0 || strcmp(status, "error") == 0 || !*reason ||
                (strcmp(status, "rejected") == 0 && *text);
    if (said)
        return cJSON_AddStringToObject(run, "stderr", text);
    hc_autobuf all = {0};
    size_t len = strlen(text);
    (void)hc_buf_fmt(&all, "%s%shotcell: %s: %s\n", text, len && text[len - 1] != '\n' ? "\n" : "", status,
                     reason);
    return !all.failed && cJSON_AddStringToObject(run, "stderr", all.data);
}

static bool put_run(cJSON *answer, const cJSON *manifest, const struct verdict *v)
{
    if (!v->run)
        return cJSON_AddNullToObject(answer, "run_result");
    cJSON *run = cJSON_AddObjectToObject(answer, "run_result");
    const cJSON *time = hc_json_member(hc_json_member(manifest, "timing"), "run");
    return run && cJSON_AddStringToObject(run, "status", v->run) &&
           cJSON_AddNumberToObject(run, "execution_time", cJSON_IsNumber(time) ? time->valuedouble : 0) &&
           (v->exited ? cJSON_AddNumberToObject(run, "return_code", v->code)
                      : cJSON_AddNullToObject(run, "return_code")) &&
           cJSON_AddStringToObject(run, "stdout", hc_json_text(hc_json_member(manifest, "stdout"), "text")) &&
           put_stderr(run, manifest);
}

/* The reason of the end, what was left out of the program's text before it ran, and what of the output is not
 * in the answer: a judge that compares output must not take what was cut for all of it. */
static void put_message(const cJSON *manifest, struct hc_buf *out)
{
    static const char *const streams[] = {"stdout", "stderr"};
    const cJSON *finding;
    int n = 0;
    (void)hc_buf_str(out, hc_json_text(manifest, "reason"));
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const cJSON *stream = hc_json_member(manifest, streams[i]);
        if (hc_json_is_true(stream, "truncated"))
            (void)hc_buf_fmt(out, "%s%s has %lld bytes, and is cut (limits.%s)", out->len ? "; " : "",
                             streams[i], (long long)hc_json_int(stream, "bytes", 0), streams[i]);
    }
    cJSON_ArrayForEach(finding, hc_json_member(hc_json_member(manifest, "check"), "warnings"))
    {
        const char *rule = hc_json_text(finding, "rule");
        if ((strcmp(rule, "tidy") == 0 || strcmp(rule, "imports") == 0) && n++ < HC_FUSION_MAX_WARNINGS)
            (void)hc_buf_fmt(out, "%sline %lld: %s", out->len ? "; " : "",
                             (long long)hc_json_int(finding, "line", 0), hc_json_text(finding, "message"));
    }
}

/* Fills an answer; `files` is taken. */
static bool put_answer(cJSON *answer, const cJSON *manifest, const struct verdict *v, cJSON *files)
{
    hc_autobuf message = {0};
    if (!files)
        files = cJSON_CreateObject();
    put_message(manifest, &message);
    bool ok = answer && !message.failed && cJSON_AddStringToObject(answer, "status", v->status) &&
              cJSON_AddStringToObject(answer, "message", message.data ? message.data : "") &&
              cJSON_AddNullToObject(answer, "compile_result") && put_run(answer, manifest, v) &&
              cJSON_AddNullToObject(answer, "executor_pod_name") &&
              cJSON_AddItemToObject(answer, "files", files);
    if (!ok)
        cJSON_Delete(files);
    return ok;
}

int hc_fusion_answer(const char *manifest, size_t len, cJSON *files, struct hc_buf *out, struct hc_error *err)
{
    struct hc_json json;
    if (hc_json_parse(&json, "manifest", manifest, len, err) < 0) {
        cJSON_Delete(files);
        return -1;
    }
    const struct verdict v = judge(json.root);
    cJSON *answer = cJSON_CreateObject();
    const bool whole = put_answer(answer, json.root, &v, files);
    int rc = whole ? hc_json_print(out, answer, "answer", err) : hc_fail(err, ENOMEM, "answer");
    if (!whole)
        cJSON_Delete(answer);
    hc_json_finish(&json);
    return rc;
}

int hc_fusion_refusal(const char *why, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"status\":\"SandboxError\",\"message\":");
    hc_json_quote(out, why, strlen(why));
    return hc_buf_str(
        out, ",\"compile_result\":null,\"run_result\":null,\"executor_pod_name\":null,\"files\":{}}");
}
