#include "wire/handover.h"

#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_UNIT 8    /* sizeof(struct sock_filter) */
#define FILTER_MAX  4096 /* BPF_MAXINSNS: the kernel takes no longer filter */

static const uint32_t magics[] = {
    [HC_HANDOVER_CELL] = 0x68634833u,   /* "hcH3" */
    [HC_HANDOVER_ZYGOTE] = 0x68635a33u, /* "hcZ3" */
    [HC_HANDOVER_COPY] = 0x68634333u,   /* "hcC3" */
};

/* The advice for different versions: an upgrade replaces the shim while the old hotcelld goes on running. */
#define MEND "install hotcell as a whole, and restart hotcelld"

static bool put_inputs(cJSON *root, const struct hc_job *job)
{
    cJSON *list = cJSON_AddArrayToObject(root, "inputs");
    for (size_t i = 0; list && i < job->input_count; i++) {
        const struct hc_input *in = &job->inputs[i];
        char path[128];
        cJSON *entry = cJSON_CreateObject();
        if (!entry || !cJSON_AddItemToArray(list, entry) || hc_input_cell_path(in, path, sizeof path) < 0 ||
            !cJSON_AddStringToObject(entry, "name", in->name) ||
            !cJSON_AddStringToObject(entry, "path", path) ||
            !cJSON_AddStringToObject(entry, "format", hc_input_format_name(in->format)))
            return false;
    }
    return list;
}

static bool put_rules(cJSON *root, const struct hc_policy *p)
{
    cJSON *rules = hc_rules_for_shim(p->rules, p->guard == HC_GUARD_ON);
    if (rules && cJSON_AddItemToObject(root, "rules", rules))
        return true;
    cJSON_Delete(rules);
    return false;
}

static bool put_returns(cJSON *root, const struct hc_job *job)
{
    cJSON *list = cJSON_AddArrayToObject(root, "returns");
    for (size_t i = 0; list && i < job->return_count; i++) {
        cJSON *entry = cJSON_CreateObject();
        if (!entry || !cJSON_AddItemToArray(list, entry) ||
            !cJSON_AddStringToObject(entry, "name", job->returns[i].name) ||
            !cJSON_AddStringToObject(entry, "format", job->returns[i].format))
            return false;
    }
    return list;
}

static bool put_copy(cJSON *root, const char *name, const cJSON *node)
{
    cJSON *copy = node ? cJSON_Duplicate(node, true) : NULL;
    if (!node || (copy && cJSON_AddItemToObject(root, name, copy)))
        return true;
    cJSON_Delete(copy);
    return false;
}

static bool put_tools(cJSON *root, const struct hc_policy *p)
{
    cJSON *list = p->tools.count ? hc_tools_for_shim(&p->tools) : NULL;
    if (!p->tools.count || (list && cJSON_AddItemToObject(root, "tools", list)))
        return true;
    cJSON_Delete(list);
    return false;
}

static bool put_document(cJSON *root, enum hc_handover_kind kind, const struct hc_job *job,
                         const struct hc_policy *p)
{
    const char *code = job->code;
    char run[32];
    (void)snprintf(run, sizeof run, "<cell %d>", job->run);
    const bool capped = p->output_mode == HC_OUTPUT_CAPPED;
    char timeout[32];
    (void)hc_format_duration(p->limits.timeout_ms, timeout, sizeof timeout);
    if (strncmp(code, HC_BOM, strlen(HC_BOM)) == 0)
        code += strlen(HC_BOM);
    if (job->run && *code == '\0')
        code = "\n"; /* a session takes an empty text for the wish for a copy, without a run */
    return cJSON_AddStringToObject(root, "code", code) &&
           cJSON_AddStringToObject(root, "filename",
                                   job->run ? run : hc_rules_text(p->rules, "code", "filename", "<cell>")) &&
           (!job->interface || cJSON_AddStringToObject(root, "interface", job->interface)) &&
           (!job->session || cJSON_AddBoolToObject(root, "session", true)) &&
           (!job->is_command || cJSON_AddBoolToObject(root, "command", true)) &&
           (!(job->run || job->moves) || !job->workdir ||
            cJSON_AddStringToObject(root, "workdir", job->workdir)) &&
           put_inputs(root, job) &&
           (kind == HC_HANDOVER_COPY ||
            (put_rules(root, p) && cJSON_AddStringToObject(root, "layers", hc_policy_layers(p)))) &&
           put_returns(root, job) && put_tools(root, p) &&
           cJSON_AddRawToObject(root, "vars", job->vars_text ? job->vars_text : "{}") &&
           (!job->given || cJSON_AddRawToObject(root, "given", job->given)) &&
           put_copy(root, "args", job->args) && put_copy(root, "env", job->env) &&
           (!job->interactive || cJSON_AddBoolToObject(root, "interactive", true)) &&
           (!job->has_stdin || cJSON_AddBoolToObject(root, "stdin", true)) &&
           (!job->has_seed || cJSON_AddNumberToObject(root, "seed", job->seed)) &&
           cJSON_AddStringToObject(root, "timeout", timeout) &&
           cJSON_AddNumberToObject(root, "figures", (double)p->limits.figures) &&
           cJSON_AddNumberToObject(root, "figure_bytes", (double)p->limits.figure_bytes) &&
           cJSON_AddNumberToObject(root, "value_bytes", (double)p->limits.value_bytes) &&
           cJSON_AddNumberToObject(root, "memory", (double)p->limits.memory) &&
           cJSON_AddNumberToObject(root, "output", capped ? (double)p->limits.output_bytes : 0) &&
           cJSON_AddNumberToObject(root, "tmp", (double)p->limits.tmp_bytes) &&
           cJSON_AddBoolToObject(root, "check", job->check_only) &&
           (!job->checker || cJSON_AddNumberToObject(root, "checker", job->checker)) &&
           cJSON_AddBoolToObject(root, "guard", p->guard == HC_GUARD_ON) &&
           (!job->dir_count || cJSON_AddBoolToObject(root, "links", true)) &&
           (!p->learn || cJSON_AddBoolToObject(root, "learn", true)) &&
           cJSON_AddBoolToObject(root, "network", p->network == HC_NETWORK_LOOPBACK) &&
           cJSON_AddBoolToObject(root, "processes", p->processes == HC_PROCESSES_FORK);
}

static bool is_filter_size(size_t len)
{
    return len % FILTER_UNIT == 0 && len <= FILTER_MAX * FILTER_UNIT;
}

int hc_handover_write(enum hc_handover_kind kind, const struct hc_job *job, const struct hc_policy *policy,
                      const struct hc_handover_filters *f, struct hc_buf *out, struct hc_error *err)
{
    if (!is_filter_size(f->first.len) || !is_filter_size(f->report.len) || !is_filter_size(f->own.len))
        return hc_fail(err, 0, "handover: filters of %zu, %zu and %zu bytes", f->first.len, f->report.len,
                       f->own.len);
    cJSON *root = cJSON_CreateObject();
    char *text = root && put_document(root, kind, job, policy) ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return hc_fail(err, ENOMEM, "handover");
    size_t len = strlen(text), padded = (len + FILTER_UNIT - 1) / FILTER_UNIT * FILTER_UNIT;
    struct hc_handover_head head = {.magic = magics[kind],
                                    .json_len = (uint32_t)padded,
                                    .first_len = (uint32_t)f->first.len,
                                    .report_len = (uint32_t)f->report.len,
                                    .job_len = (uint32_t)f->own.len};
    memcpy(head.version, hc_version, sizeof hc_version);
    bool fits = padded < UINT32_MAX;
    (void)hc_buf_add(out, &head, sizeof head);
    (void)hc_buf_add(out, text, len);
    (void)hc_buf_add(out, "        ", padded - len); /* the filters behind it stay aligned */
    (void)hc_buf_add(out, f->first.data, f->first.len);
    (void)hc_buf_add(out, f->report.data, f->report.len);
    (void)hc_buf_add(out, f->own.data, f->own.len);
    free(text);
    return fits && !out->failed ? 0 : hc_fail(err, fits ? ENOMEM : EFBIG, "handover");
}

bool hc_handover_locks_early(const cJSON *rules)
{
    const cJSON *prelude = hc_json_member(rules, "prelude");
    return !prelude || !prelude->child;
}

static int read_kind(uint32_t magic, enum hc_handover_kind *kind)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (magics[i] == magic) {
            *kind = (enum hc_handover_kind)i;
            return 0;
        }
    return -1;
}

static struct hc_bpf take_filter(const char **at, size_t len)
{
    struct hc_bpf filter = {*at, len};
    *at += len;
    return filter;
}

static int check_version(const struct hc_handover_head *head, struct hc_error *err)
{
    if (memcmp(head->version, hc_version, sizeof hc_version) == 0)
        return 0;
    return hc_fail(err, 0, "is of version %s, and was started by hotcell %.*s: " MEND, hc_version,
                   (int)strnlen(head->version, sizeof head->version), head->version);
}

int hc_handover_split(struct hc_handover *out, const void *data, size_t len, struct hc_error *err)
{
    struct hc_handover_head head;
    *out = (struct hc_handover){0};
    if (len < sizeof head)
        return hc_fail(err, 0, "handover: cut short");
    memcpy(&head, data, sizeof head);
    if (read_kind(head.magic, &out->kind) < 0)
        return hc_fail(err, 0, "handover: not one, or of another version than %s: " MEND, hc_version);
    if (check_version(&head, err) < 0)
        return -1;
    if (len - sizeof head != (uint64_t)head.json_len + head.first_len + head.report_len + head.job_len ||
        !is_filter_size(head.first_len) || !is_filter_size(head.report_len) || !is_filter_size(head.job_len))
        return hc_fail(err, 0, "handover: lengths do not add up");
    out->text = (const char *)data + sizeof head;
    out->text_len = head.json_len;
    const char *at = out->text + head.json_len;
    out->filters.first = take_filter(&at, head.first_len);
    out->filters.report = take_filter(&at, head.report_len);
    out->filters.own = take_filter(&at, head.job_len);
    return 0;
}

static int take_inputs(struct hc_handover_job *job, const cJSON *list)
{
    const cJSON *entry;
    job->inputs = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *job->inputs);
    if (!job->inputs)
        return -1;
    cJSON_ArrayForEach(entry, list)
    {
        job->inputs[job->input_count++] = (struct hc_handover_input){
            .name = hc_json_text(entry, "name"),
            .path = hc_json_text(entry, "path"),
            .format = hc_json_text(entry, "format"),
        };
    }
    return 0;
}

static void take_document(struct hc_handover_job *job, const cJSON *root)
{
    const cJSON *vars = hc_json_member(root, "vars");
    *job = (struct hc_handover_job){
        .code = hc_json_text(root, "code"),
        .filename = hc_json_text_or(root, "filename", "<cell>"),
        .timeout = hc_json_text(root, "timeout"),
        .interface = hc_json_text(root, "interface"),
        .layers = hc_json_text(root, "layers"),
        .has_vars = vars && vars->child,
        .has_given = hc_json_member(root, "given"),
        .has_seed = hc_json_member(root, "seed"),
        .seed = (uint32_t)hc_json_int(root, "seed", 0),
        .interactive = hc_json_is_true(root, "interactive"),
        .has_stdin = hc_json_is_true(root, "stdin"),
        .session = hc_json_is_true(root, "session"),
        .command = hc_json_is_true(root, "command"),
        .workdir = hc_json_text(root, "workdir"),
        .check = hc_json_is_true(root, "check"),
        .checker = (enum hc_checker)hc_json_int(root, "checker", HC_CHECKER_ENDS),
        .guard = hc_json_is_true(root, "guard"),
        .links = hc_json_is_true(root, "links"),
        .learn = hc_json_is_true(root, "learn"),
        .network = hc_json_is_true(root, "network"),
        .processes = hc_json_is_true(root, "processes"),
        .figures = hc_json_int(root, "figures", 0),
        .figure_bytes = hc_json_int(root, "figure_bytes", 0),
        .value_bytes = hc_json_int(root, "value_bytes", 0),
        .memory = hc_json_int(root, "memory", 0),
        .output = hc_json_int(root, "output", 0),
        .tmp = hc_json_int(root, "tmp", 0),
        .args = hc_json_member(root, "args"),
        .env = hc_json_member(root, "env"),
        .returns = hc_json_member(root, "returns"),
        .tools = hc_json_member(root, "tools"),
        .rules = hc_json_member(root, "rules"),
    };
}

int hc_handover_parse(struct hc_handover *h, struct hc_error *err)
{
    if (hc_json_parse(&h->json, "handover", h->text, h->text_len, err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    take_document(&h->job, h->json.root);
    bool object = cJSON_IsObject(h->json.root);
    if (object && take_inputs(&h->job, hc_json_member(h->json.root, "inputs")) == 0)
        return 0;
    hc_handover_finish(h);
    return hc_fail(err, object ? ENOMEM : 0, object ? "handover" : "handover: not an object");
}

char *hc_handover_sample(const struct hc_handover *zygote, const char *code)
{
    cJSON *root = cJSON_Duplicate(zygote->json.root, true);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "session");
    cJSON_DeleteItemFromObjectCaseSensitive(root, "code");
    char *text = cJSON_AddStringToObject(root, "code", code) ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    return text;
}

void hc_handover_finish(struct hc_handover *h)
{
    free(h->job.inputs);
    hc_json_finish(&h->json);
    *h = (struct hc_handover){0};
}
