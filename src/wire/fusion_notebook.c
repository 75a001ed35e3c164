#include "wire/fusion_parts.h"

#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_CELLS 1024 /* most cells of a notebook */
#define LEAST_MS   10   /* the shortest limits.timeout that there is */

/* ---- a notebook ---- */

/* Reads a number of seconds; 0 stands for none, too. */
static int take_seconds(struct hc_fusion_request *r, const char *name, int64_t *ms, struct hc_error *err)
{
    const cJSON *node = hc_json_member(r->json.root, name);
    double seconds = 0;
    if (cJSON_IsNumber(node) && node->valuedouble == 0)
        return 0;
    if (hc_fusion_take_amount(r, name, &seconds, err) < 0)
        return -1;
    *ms = (int64_t)ceil(seconds * 1000);
    return 0;
}

static int take_kernel(const struct hc_fusion_request *r, struct hc_error *err)
{
    const cJSON *node;
    if (hc_fusion_take(r, "kernel", cJSON_IsString, "a string", &node, err) < 0)
        return -1;
    if (!node || strcmp(node->valuestring, "python3") == 0)
        return 0;
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "kernel '%.40s' is not there: expected python3",
                      node->valuestring);
}

static int read_notebook(struct hc_fusion_request *r, struct hc_fusion_notebook *n, struct hc_error *err)
{
    const cJSON *cells;
    if (!cJSON_IsObject(r->json.root))
        return hc_json_fail(&r->json, r->json.root, false, err, "expected an object, got %s",
                            hc_json_kind(r->json.root));
    if (hc_fusion_take(r, "cells", cJSON_IsArray, "a list", &cells, err) < 0)
        return -1;
    if (!cells)
        return hc_json_fail(&r->json, r->json.root, false, err, "cells: expected a list, got nothing");
    if (cJSON_GetArraySize(cells) > MOST_CELLS)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "cells: more than %d", MOST_CELLS);
    if (hc_fusion_take_common(r, err) < 0 || take_seconds(r, "cell_timeout", &n->cell_ms, err) < 0 ||
        take_seconds(r, "total_timeout", &n->total_ms, err) < 0 || take_kernel(r, err) < 0 ||
        hc_fusion_check_strings(r, cells, err) < 0 || hc_fusion_check_files(r, err) < 0)
        return -1;
    const int64_t ms = n->cell_ms && (!n->total_ms || n->cell_ms < n->total_ms) ? n->cell_ms : n->total_ms;
    r->timeout_s = (double)ms / 1000;
    r->cells = cells;
    return 0;
}

int hc_fusion_notebook(const struct hc_fusion_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                       struct hc_fusion_notebook *n, struct hc_error *err)
{
    struct hc_fusion_request r = {.rules = rules};
    *n = (struct hc_fusion_notebook){0};
    if (hc_json_parse(&r.json, "request", text, len, err) < 0)
        return -1;
    int rc = read_notebook(&r, n, err);
    if (rc == 0) {
        (void)hc_buf_str(spec, "{\"labels\":{}");
        hc_fusion_put_common(spec, &r, rules->policy);
        if (hc_buf_str(spec, "}") < 0)
            rc = hc_fail(err, ENOMEM, "request");
    }
    if (rc == 0) {
        n->fetch = hc_fusion_take_list(&r, r.fetch);
        n->cells = hc_fusion_take_list(&r, r.cells);
    }
    hc_json_finish(&r.json);
    return rc;
}

void hc_fusion_notebook_finish(struct hc_fusion_notebook *n)
{
    cJSON_Delete(n->cells);
    cJSON_Delete(n->fetch);
    hc_buf_finish(&n->done);
    *n = (struct hc_fusion_notebook){0};
}

int hc_fusion_next_cell(struct hc_fusion_notebook *n, int64_t left_ms, struct hc_buf *out)
{
    cJSON *cell = n->cells ? cJSON_DetachItemFromArray(n->cells, 0) : NULL;
    const bool limited = n->total_ms && (!n->cell_ms || left_ms < n->cell_ms);
    const int64_t ms = limited ? left_ms : n->cell_ms;
    if (!cell)
        return 0;
    (void)hc_buf_str(out, "{\"code\":");
    hc_fusion_put_string(out, cell->valuestring);
    if (ms)
        (void)hc_buf_fmt(out, ",\"limits\":{\"timeout\":\"%lldms\"}",
                         (long long)(ms < LEAST_MS ? LEAST_MS : ms));
    cJSON_Delete(cell);
    return hc_buf_str(out, "}") < 0 ? -1 : 1;
}

/* ---- the answer of a notebook ---- */

/* Appends what the cell has shown: its figures, what it displayed, and its value, each as an object of MIME
 * types. */
static void put_display(struct hc_buf *out, const struct hc_json *json, const cJSON *manifest,
                        hc_fusion_image *image, void *data)
{
    const cJSON *guest = hc_json_member(manifest, "guest"), *item;
    bool more = false;
    cJSON_ArrayForEach(item, hc_json_member(manifest, "figures"))
    {
        const size_t before = out->len;
        (void)hc_buf_str(out, more ? "," : "");
        if (image && image(data, hc_json_text(item, "path"), hc_json_text(item, "mime"), out))
            more = true;
        else if (out->len > before)
            out->data[out->len = before] = '\0';
    }
    cJSON_ArrayForEach(item, hc_json_member(guest, "displays"))
    {
        (void)hc_buf_str(out, more ? "," : "");
        hc_fusion_put_source(out, json, item);
        more = true;
    }
    item = hc_json_member(guest, "value");
    if (!cJSON_IsObject(item) || !item->child)
        return;
    (void)hc_buf_str(out, more ? "," : "");
    hc_fusion_put_source(out, json, item);
}

/* Appends a traceback as a list of lines. */
static void put_lines(struct hc_buf *out, const char *text)
{
    for (bool more = false; *text; more = true) {
        const size_t len = strcspn(text, "\n");
        (void)hc_buf_str(out, more ? "," : "");
        hc_json_quote(out, text, len);
        text += len + (text[len] == '\n');
    }
}

/* How a cell has failed. */
struct cell_error {
    const char *name, *value, *traceback; /* borrowed */
};

/* A cell that was refused has no exception: what Python would have printed is on standard error. */
static struct cell_error error_of(const cJSON *manifest)
{
    const char *status = hc_json_text(manifest, "status"), *reason = hc_json_text(manifest, "reason");
    const cJSON *error = hc_json_member(hc_json_member(manifest, "guest"), "error");
    const cJSON *rejection = hc_json_member(manifest, "rejection");
    const char *rule = hc_json_text_or(rejection, "rule", status);
    if (strcmp(status, "rejected") != 0)
        return (struct cell_error){hc_json_text_or(error, "type", status),
                                   hc_json_text_or(error, "message", reason),
                                   hc_json_text(error, "traceback")};
    return (struct cell_error){strcmp(rule, "syntax") == 0 ? "SyntaxError" : rule, reason,
                               hc_json_text(hc_json_member(manifest, "stderr"), "text")};
}

/* Appends the cell's exception, or what else has ended it. */
static void put_cell_error(struct hc_buf *out, const struct cell_error *error)
{
    (void)hc_buf_str(out, "{\"ename\":");
    hc_fusion_put_string(out, error->name);
    (void)hc_buf_str(out, ",\"evalue\":");
    hc_fusion_put_string(out, error->value);
    (void)hc_buf_str(out, ",\"traceback\":[");
    put_lines(out, error->traceback);
    (void)hc_buf_str(out, "]}");
}

/* Appends standard error without the traceback at its end, which is a part of the cell's error, and the
 * warnings of the run, such as that a line "!pip install" was left out. */
static void put_cell_stderr(struct hc_buf *out, const cJSON *manifest, const char *traceback)
{
    const char *text = hc_json_text(hc_json_member(manifest, "stderr"), "text");
    size_t len = strlen(text), tail = strlen(traceback);
    const cJSON *warning;
    hc_autobuf all = {0};
    int n = 0;
    if (tail && tail <= len && strcmp(text + len - tail, traceback) == 0)
        len -= tail;
    (void)hc_buf_add(&all, text, len);
    cJSON_ArrayForEach(warning, hc_json_member(manifest, "warnings"))
    {
        if (!cJSON_IsString(warning) || n++ == HC_FUSION_MAX_WARNINGS)
            break;
        (void)hc_buf_fmt(&all, "%shotcell: %s\n", all.len && all.data[all.len - 1] != '\n' ? "\n" : "",
                         warning->valuestring);
    }
    out->failed |= all.failed;
    hc_json_quote(out, all.data ? all.data : "", all.len);
}

int hc_fusion_add_cell(struct hc_fusion_notebook *n, const char *result, size_t len, hc_fusion_image *image,
                       void *data, struct hc_error *err)
{
    struct hc_json json;
    struct hc_buf *out = &n->done;
    if (hc_json_parse(&json, "result", result, len, err) < 0)
        return -1;
    const cJSON *manifest = hc_json_member(json.root, "manifest");
    const char *status = hc_json_text(manifest, "status");
    const struct cell_error error = error_of(manifest);
    n->count++;
    n->late = strcmp(status, "timeout") == 0 || strcmp(status, "cpu") == 0;
    if (n->late)
        (void)snprintf(n->why, sizeof n->why, "cell %d: %s", n->count, hc_json_text(manifest, "reason"));
    const cJSON *time = hc_json_member(hc_json_member(manifest, "timing"), "run");
    n->run_s += cJSON_IsNumber(time) && time->valuedouble > 0 ? time->valuedouble : 0;
    (void)hc_buf_str(out, out->len ? ",{\"stdout\":" : "{\"stdout\":");
    hc_fusion_put_string(out, hc_json_text(hc_json_member(manifest, "stdout"), "text"));
    (void)hc_buf_str(out, ",\"stderr\":");
    put_cell_stderr(out, manifest, error.traceback);
    (void)hc_buf_str(out, ",\"display\":[");
    put_display(out, &json, manifest, image, data);
    (void)hc_buf_str(out, "],\"error\":[");
    if (strcmp(status, "ok") != 0)
        put_cell_error(out, &error);
    (void)hc_buf_str(out, "]}");
    hc_json_finish(&json);
    return out->failed ? hc_fail(err, ENOMEM, "answer") : 0;
}

int hc_fusion_notebook_answer(const struct hc_fusion_notebook *n, const cJSON *files, struct hc_buf *out)
{
    const cJSON *file;
    const char *cells = n->done.data && !n->late ? n->done.data : "";
    const char *why = !n->late ? "" : *n->why ? n->why : "the cells took all of their time (total_timeout)";
    (void)hc_buf_fmt(out, "{\"status\":\"%s\",\"message\":", n->late ? "Failed" : "Success");
    hc_json_quote(out, why, hc_utf8_whole(why));
    (void)hc_buf_fmt(out,
                     ",\"driver\":{\"status\":\"%s\",\"execution_time\":%.6f,"
                     "\"return_code\":%s,\"stdout\":\"\",\"stderr\":\"\"},\"cells\":[",
                     n->late ? "TimeLimitExceeded" : "Finished", n->run_s, n->late ? "null" : "0");
    (void)hc_buf_str(out, cells);
    (void)hc_buf_str(out, "],\"executor_pod_name\":null,\"files\":{");
    cJSON_ArrayForEach(file, files)
    {
        hc_fusion_put_string(out, file->string);
        (void)hc_buf_str(out, ":\"");
        (void)hc_buf_str(out, file->valuestring); /* base64 */
        (void)hc_buf_str(out, file->next ? "\"," : "\"");
    }
    return hc_buf_str(out, "}}");
}

int hc_fusion_notebook_refusal(const char *why, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"status\":\"SandboxError\",\"message\":");
    hc_fusion_put_string(out, why);
    return hc_buf_str(out, ",\"driver\":null,\"cells\":[],\"executor_pod_name\":null,\"files\":{}}");
}
