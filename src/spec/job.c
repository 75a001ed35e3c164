#include "spec/job.h"

#include "spec/names.h"
#include "spec/scan.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_VARS   256
#define MAX_LABELS 64
#define MAX_NAME   64   /* of inputs, vars, labels; ids */
#define MAX_LABEL  1024 /* a label's value */

static const char *const format_names[] = {
    [HC_INPUT_PATH] = "path", [HC_INPUT_JSONL] = "jsonl", [HC_INPUT_JSON] = "json",
    [HC_INPUT_CSV] = "csv",   [HC_INPUT_NPY] = "npy",     [HC_INPUT_NPZ] = "npz",
};

static const char id_shape[] = "1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'";

void hc_job_finish(struct hc_job *job)
{
    free(job->code);
    for (size_t i = 0; i < job->input_count; i++) {
        free(job->inputs[i].name);
        free(job->inputs[i].path);
    }
    cJSON_Delete(job->vars);
    free(job->vars_text);
    free(job->policy);
    free(job->output_dir);
    for (size_t i = 0; i < job->override_count; i++)
        free(job->overrides[i].text);
    free(job->tenant);
    free(job->job_id);
    cJSON_Delete(job->labels);
    for (size_t i = 0; i < job->return_count; i++)
        free(job->returns[i].name);
    free(job->sign);
    *job = (struct hc_job){0};
}

/* ---- inputs ---- */

/* The extension behind the last dot of the last component, "" if there is none. */
static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}

enum hc_input_format hc_input_format_of(const char *path)
{
    const char *ext = extension(path);
    for (size_t i = HC_INPUT_PATH + 1; i < sizeof format_names / sizeof *format_names; i++)
        if (strcasecmp(ext, format_names[i]) == 0)
            return (enum hc_input_format)i;
    return HC_INPUT_PATH;
}

const char *hc_input_format_name(enum hc_input_format f)
{
    return format_names[f];
}

int hc_input_cell_path(const struct hc_input *in, char *out, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *ext = extension(in->path);
    size_t len = strlen(ext);
    bool keep = len > 0 && len <= 8 && strspn(ext, plain) == len;
    int n = snprintf(out, size, "/input/%s%s%s", in->name, keep ? "." : "", keep ? ext : "");
    return n > 0 && (size_t)n < size ? 0 : -1;
}

static bool name_taken(const struct hc_job *job, const char *name)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (strcmp(job->inputs[i].name, name) == 0)
            return true;
    return job->vars && cJSON_GetObjectItemCaseSensitive(job->vars, name);
}

/* A reason why `name` cannot be a variable of this job, NULL if it can. */
static const char *bad_variable(const struct hc_job *job, const char *name)
{
    if (!hc_is_identifier(name) || strlen(name) > MAX_NAME)
        return "expected a Python identifier of ASCII letters, digits and '_', no keyword, at most 64 "
               "characters, not beginning with '_'";
    if (job && name_taken(job, name))
        return "the name is given twice among inputs and vars";
    return NULL;
}

static const char *bad_path(const char *path)
{
    if (!*path)
        return "expected a path, got an empty string";
    return strlen(path) >= PATH_MAX ? "the path is too long" : NULL;
}

static int add_input(struct hc_job *job, const char *name, const char *path, enum hc_input_format format,
                     struct hc_error *err)
{
    struct hc_input in = {.name = strdup(name), .path = strdup(path), .format = format};
    if (!in.name || !in.path) {
        free(in.name);
        free(in.path);
        return hc_fail(err, ENOMEM, "input '%s'", name);
    }
    job->inputs[job->input_count++] = in;
    return 0;
}

/* ---- what is to be given back ---- */

static const char *const return_formats[] = {"auto", "exact", "json", "npy", "csv", "jsonl"};

static const char no_memory[] = "out of memory";

/* NAME or NAME=FORMAT. Returns what is wrong with it, or no_memory; NULL if it was taken. */
static const char *take_return(struct hc_job *job, const char *text)
{
    const char *format = return_formats[0];
    size_t len = strcspn(text, "=");
    for (size_t i = 0; text[len] && i <= sizeof return_formats / sizeof *return_formats; i++) {
        if (i == sizeof return_formats / sizeof *return_formats)
            return "expected NAME or NAME=FORMAT, with the format auto, exact, json, npy, csv or jsonl";
        if (strcmp(text + len + 1, return_formats[i]) != 0)
            continue;
        format = return_formats[i];
        break;
    }
    char name[MAX_NAME + 1];
    if (len > MAX_NAME)
        return "the name is too long";
    (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
    if (!hc_is_word(name))
        return "expected a Python name of ASCII letters, digits and '_'";
    for (size_t i = 0; i < job->return_count; i++)
        if (strcmp(job->returns[i].name, name) == 0)
            return "the name is given twice";
    if (job->return_count == HC_MAX_RETURNS)
        return "more than 64 names";
    char *copy = strdup(name);
    if (!copy)
        return no_memory;
    job->returns[job->return_count++] = (struct hc_return){.name = copy, .format = format};
    return NULL;
}

/* ---- a spec, member by member ---- */

struct spec {
    struct hc_job *job;
    const struct hc_json *json;
    struct hc_policy scratch; /* takes limits, to have them checked */
};

typedef int member_parser(struct spec *s, const cJSON *node, struct hc_error *err);

struct member {
    const char *name;
    member_parser *parse;
};

static int wrong_type(const struct spec *s, const cJSON *node, const char *what, struct hc_error *err)
{
    return hc_json_fail(s->json, node, false, err, "%s: expected %s, got %s", node->string, what,
                        hc_json_kind(node));
}

static int take_string(const struct spec *s, const cJSON *node, const char *what, char **out,
                       struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(s, node, what, err);
    *out = strdup(node->valuestring);
    return *out ? 0 : hc_fail(err, ENOMEM, "%s", node->string);
}

static int take_filled(const struct spec *s, const cJSON *node, const char *what, char **out,
                       struct hc_error *err)
{
    if (cJSON_IsString(node) && !*node->valuestring)
        return hc_json_fail(s->json, node, false, err, "%s: expected %s, got an empty string", node->string,
                            what);
    return take_string(s, node, what, out, err);
}

static int parse_code(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (take_string(s, node, "the program's source as a string", &s->job->code, err) < 0)
        return -1;
    s->job->code_len = strlen(s->job->code);
    return 0;
}

static int parse_input_map(struct spec *s, const cJSON *node, bool jsonl, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of name and path", err);
    const cJSON *in;
    cJSON_ArrayForEach(in, node)
    {
        const char *bad = bad_variable(NULL, in->string);
        if (bad)
            return hc_json_fail(s->json, in, true, err, "%s: '%.64s': %s", node->string, in->string, bad);
        if (!cJSON_IsString(in))
            return hc_json_fail(s->json, in, false, err, "%s.%s: expected a path, got %s", node->string,
                                in->string, hc_json_kind(in));
        if ((bad = bad_path(in->valuestring)))
            return hc_json_fail(s->json, in, false, err, "%s.%s: %s", node->string, in->string, bad);
        if (s->job->input_count == HC_MAX_INPUTS)
            return hc_json_fail(s->json, in, true, err, "%s: more than %d", node->string, HC_MAX_INPUTS);
        enum hc_input_format format = jsonl ? HC_INPUT_JSONL : hc_input_format_of(in->valuestring);
        if (add_input(s->job, in->string, in->valuestring, format, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_inputs(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_input_map(s, node, false, err);
}

/* The older runner read every file as JSON lines, whatever its name. */
static int parse_df_paths(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_input_map(s, node, true, err);
}

static int parse_vars(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of name and value", err);
    if (cJSON_GetArraySize(node) > MAX_VARS)
        return hc_json_fail(s->json, node, false, err, "vars: more than %d", MAX_VARS);
    const cJSON *var;
    cJSON_ArrayForEach(var, node)
    {
        const char *bad = bad_variable(NULL, var->string);
        if (bad)
            return hc_json_fail(s->json, var, true, err, "vars: '%.64s': %s", var->string, bad);
    }
    if (!node->child)
        return 0;
    size_t len;
    const char *text = hc_json_source(s->json, node, &len);
    s->job->vars_text = text ? strndup(text, len) : NULL;
    s->job->vars = cJSON_Duplicate(node, true);
    return s->job->vars_text && s->job->vars ? 0 : hc_fail(err, ENOMEM, "vars");
}

static int add_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err)
{
    char *copy = strdup(text);
    if (!copy)
        return hc_fail(err, ENOMEM, "%s", opt->path);
    for (size_t i = 0; i < job->override_count; i++) {
        if (job->overrides[i].opt != opt)
            continue;
        free(job->overrides[i].text);
        job->overrides[i].text = copy;
        return 0;
    }
    job->overrides[job->override_count++] = (struct hc_override){opt, copy};
    return 0;
}

/* `label` is what the spec calls the option, for messages. */
static int override_json(struct spec *s, const char *path, const char *label, const cJSON *node,
                         struct hc_error *err)
{
    const struct hc_option *opt = hc_option_by_path(path);
    struct hc_option row = *opt;
    char text[sizeof s->scratch.tree];
    row.path = label;
    if (hc_option_set_json(&s->scratch, &row, s->json, node, err) < 0)
        return -1;
    hc_option_format(&s->scratch, opt, text, sizeof text);
    return add_override(s->job, opt, text, err);
}

static int parse_limits(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object", err);
    const cJSON *limit;
    cJSON_ArrayForEach(limit, node)
    {
        char path[96], hint[160];
        (void)snprintf(path, sizeof path, "limits.%s", limit->string);
        if (!hc_option_by_path(path)) {
            hc_nearest_option("limits", limit->string, NULL, hint, sizeof hint);
            return hc_json_fail(s->json, limit, true, err, "unknown member '%.64s' in limits%s",
                                limit->string, hint);
        }
        if (override_json(s, path, path, limit, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_tree(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return override_json(s, "tree", "tree", node, err);
}

/* Numbers only, as the older runner had them. */
static int parse_runner_number(struct spec *s, const char *path, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsNumber(node))
        return wrong_type(s, node, "a whole number", err);
    return override_json(s, path, node->string, node, err);
}

static int parse_max_output_bytes(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_runner_number(s, "limits.stdout", node, err);
}

static int parse_max_figures(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_runner_number(s, "limits.figures", node, err);
}

static int parse_policy(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return take_filled(s, node, "a policy's name or path", &s->job->policy, err);
}

static int parse_output_dir(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return take_filled(s, node, "a path", &s->job->output_dir, err);
}

static int parse_sign(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return take_filled(s, node, "the path of a key file", &s->job->sign, err);
}

static int parse_persist_code(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsBool(node))
        return wrong_type(s, node, "true or false", err);
    s->job->persist_code = cJSON_IsTrue(node);
    return 0;
}

static int take_id(struct spec *s, const cJSON *node, char **out, struct hc_error *err)
{
    if (cJSON_IsString(node) && !hc_is_id(node->valuestring, MAX_NAME))
        return hc_json_fail(s->json, node, false, err, "%s: expected %s", node->string, id_shape);
    return take_string(s, node, "a string", out, err);
}

static int parse_tenant(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return take_id(s, node, &s->job->tenant, err);
}

static int parse_job_id(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return take_id(s, node, &s->job->job_id, err);
}

static const char *bad_label(const char *key, const char *value)
{
    if (!*key || strlen(key) > MAX_NAME)
        return "expected a key of 1 to 64 bytes";
    return strlen(value) > MAX_LABEL ? "longer than 1024 bytes" : NULL;
}

static int parse_labels(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of strings", err);
    if (cJSON_GetArraySize(node) > MAX_LABELS)
        return hc_json_fail(s->json, node, false, err, "labels: more than %d", MAX_LABELS);
    const cJSON *label;
    cJSON_ArrayForEach(label, node)
    {
        if (!cJSON_IsString(label))
            return hc_json_fail(s->json, label, false, err, "labels.%.64s: expected a string, got %s",
                                label->string, hc_json_kind(label));
        const char *bad = bad_label(label->string, label->valuestring);
        if (bad)
            return hc_json_fail(s->json, label, true, err, "labels: '%.64s': %s", label->string, bad);
    }
    if (node->child)
        s->job->labels = cJSON_Duplicate(node, true);
    return !node->child || s->job->labels ? 0 : hc_fail(err, ENOMEM, "labels");
}

static int parse_return(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsArray(node))
        return wrong_type(s, node, "a list of names", err);
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        if (!cJSON_IsString(item))
            return hc_json_fail(s->json, item, false, err, "return: expected a name, got %s",
                                hc_json_kind(item));
        const char *bad = take_return(s->job, item->valuestring);
        if (bad)
            return hc_json_fail(s->json, item, false, err, "return: '%.64s': %s", item->valuestring, bad);
    }
    return 0;
}

static int parse_seed(struct spec *s, const cJSON *node, struct hc_error *err)
{
    static const char shape[] = "a whole number from 0 to 4294967295";
    if (!cJSON_IsNumber(node))
        return wrong_type(s, node, shape, err);
    double seed = node->valuedouble;
    if (!(seed >= 0 && seed <= UINT32_MAX) || seed != floor(seed))
        return hc_json_fail(s->json, node, false, err, "seed: expected %s, got %.15g", shape, seed);
    s->job->has_seed = true;
    s->job->seed = (uint32_t)seed;
    return 0;
}

static const struct member new_form[] = {
    {"code", parse_code},
    {"inputs", parse_inputs},
    {"vars", parse_vars},
    {"policy", parse_policy},
    {"tree", parse_tree},
    {"output_dir", parse_output_dir},
    {"limits", parse_limits},
    {"persist_code", parse_persist_code},
    {"tenant", parse_tenant},
    {"job_id", parse_job_id},
    {"labels", parse_labels},
    {"seed", parse_seed},
    {"sign", parse_sign},
    {"return", parse_return},
    {NULL, NULL},
};

static const struct member runner_form[] = {
    {"code", parse_code},
    {"df_paths", parse_df_paths},
    {"output_dir", parse_output_dir},
    {"persist_code", parse_persist_code},
    {"max_output_bytes", parse_max_output_bytes},
    {"max_figures", parse_max_figures},
    {NULL, NULL},
};

static int unknown_member(const struct spec *s, const cJSON *node, const struct member *form,
                          struct hc_error *err)
{
    const char *known[sizeof new_form / sizeof *new_form];
    char hint[160];
    size_t n = 0;
    for (; form[n].name; n++)
        known[n] = form[n].name;
    known[n] = NULL;
    if (form == new_form)
        hc_nearest_option("", node->string, known, hint, sizeof hint);
    else
        hc_nearest(node->string, known, hint, sizeof hint);
    return hc_json_fail(s->json, node, true, err, "unknown member '%.64s'%s%s", node->string,
                        form == runner_form ? " in a spec of the older runner's form" : "", hint);
}

static int parse_member(struct spec *s, const cJSON *node, const struct member *form, struct hc_error *err)
{
    for (; form->name; form++)
        if (strcmp(form->name, node->string) == 0)
            return form->parse(s, node, err);
    return unknown_member(s, node, s->job->runner_form ? runner_form : new_form, err);
}

/* What makes a spec one of the older runner's: the members that only that form has. */
static bool is_runner_form(const cJSON *root)
{
    return cJSON_GetObjectItemCaseSensitive(root, "df_paths") ||
           cJSON_GetObjectItemCaseSensitive(root, "max_output_bytes") ||
           cJSON_GetObjectItemCaseSensitive(root, "max_figures");
}

static int start_runner_form(struct hc_job *job, struct hc_error *err)
{
    job->runner_form = true;
    job->persist_code = true;
    if (add_override(job, hc_option_by_path("limits.stdout"), "200000", err) < 0)
        return -1;
    return add_override(job, hc_option_by_path("limits.figures"), "20", err);
}

/* Inputs and vars become variables of one program. */
static int refuse_shared_names(const struct spec *s, struct hc_error *err)
{
    const cJSON *vars = cJSON_GetObjectItemCaseSensitive(s->json->root, "vars");
    for (size_t i = 0; i < s->job->input_count; i++) {
        const char *name = s->job->inputs[i].name;
        const cJSON *var = cJSON_GetObjectItemCaseSensitive(vars, name);
        if (var)
            return hc_json_fail(s->json, var, true, err,
                                "vars: '%s': the name is given twice among inputs and vars", name);
    }
    return 0;
}

static int parse_spec(struct spec *s, struct hc_error *err)
{
    const cJSON *root = s->json->root, *node;
    if (!cJSON_IsObject(root))
        return hc_json_fail(s->json, root, false, err, "expected an object, got %s", hc_json_kind(root));
    if (is_runner_form(root) && start_runner_form(s->job, err) < 0)
        return -1;
    cJSON_ArrayForEach(node, root)
    {
        if (parse_member(s, node, s->job->runner_form ? runner_form : new_form, err) < 0)
            return -1;
    }
    if (!s->job->code)
        return hc_json_fail(s->json, root, false, err, "expected a member 'code', which holds the program");
    return refuse_shared_names(s, err);
}

int hc_job_parse(struct hc_job *job, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json json;
    *job = (struct hc_job){0};
    if (hc_json_parse(&json, name, text, len, err) < 0)
        return -1;
    struct spec s = {.job = job, .json = &json};
    hc_policy_init(&s.scratch);
    int rc = parse_spec(&s, err);
    hc_json_finish(&json);
    if (rc == 0)
        return 0;
    hc_job_finish(job);
    return err->exit == HC_EXIT_CONFIG ? hc_exit_as(err, HC_EXIT_DATA) : -1;
}

/* ---- a command line ---- */

/* Split NAME=REST. The name is copied into `name`; returns REST. */
static const char *split(const char *assignment, const char *what, char name[MAX_NAME + 1],
                         struct hc_error *err)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        (void)hc_fail_as(err, HC_EXIT_USAGE, 0, "expected %s, got '%.80s'", what, assignment);
        return NULL;
    }
    size_t len = (size_t)(equals - assignment);
    if (len > MAX_NAME) {
        (void)hc_fail_as(err, HC_EXIT_USAGE, 0, "'%.80s...': the name is longer than %d bytes", assignment,
                         MAX_NAME);
        return NULL;
    }
    memcpy(name, assignment, len);
    name[len] = '\0';
    return equals + 1;
}

int hc_job_add_input(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char name[MAX_NAME + 1];
    const char *path = split(assignment, "NAME=FILE", name, err);
    if (!path)
        return -1;
    const char *bad = bad_variable(job, name);
    if (!bad)
        bad = bad_path(path);
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad);
    if (job->input_count == HC_MAX_INPUTS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d inputs", HC_MAX_INPUTS);
    return add_input(job, name, path, hc_input_format_of(path), err);
}

/* The value must be JSON by itself, or it could close the object and go on, and must leave room for the two
 * objects around it in the handover. */
static int check_var(const char *name, const char *text, struct hc_error *err)
{
    hc_autoscan scan;
    if (hc_scan(&scan, name, text, strlen(text), 2, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    return 0;
}

int hc_job_add_var(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char name[MAX_NAME + 1];
    const char *text = split(assignment, "NAME=JSON", name, err);
    if (!text)
        return -1;
    const char *bad = bad_variable(job, name);
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad);
    if (check_var(name, text, err) < 0)
        return -1;
    if (job->vars && cJSON_GetArraySize(job->vars) >= MAX_VARS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d variables", MAX_VARS);

    hc_autobuf joined = {0};
    size_t old = job->vars_text ? strlen(job->vars_text) - 1 : 0; /* without the closing brace */
    (void)hc_buf_add(&joined, job->vars_text ? job->vars_text : "{", job->vars_text ? old : 1);
    (void)hc_buf_fmt(&joined, "%s\"%s\": %s}", job->vars_text ? ", " : "", name, text);
    struct hc_json json;
    if (joined.failed)
        return hc_fail(err, ENOMEM, "'%s'", name);
    if (hc_json_parse(&json, name, joined.data, joined.len, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    cJSON_Delete(job->vars);
    job->vars = json.root;
    free(job->vars_text);
    job->vars_text = hc_buf_take(&joined);
    return 0;
}

int hc_job_add_return(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    const char *bad = take_return(job, assignment);
    int exit = bad == no_memory ? HC_EXIT_INTERNAL : HC_EXIT_USAGE;
    return bad ? hc_fail_as(err, exit, 0, "'%.80s': %s", assignment, bad) : 0;
}

int hc_job_add_label(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char key[MAX_NAME + 1];
    size_t wrong;
    const char *value = split(assignment, "KEY=VALUE", key, err);
    if (!value)
        return -1;
    const char *bad = bad_label(key, value);
    if (!hc_utf8_valid(assignment, strlen(assignment), &wrong))
        bad = "not UTF-8";
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", key, bad);
    if (!job->labels && !(job->labels = cJSON_CreateObject()))
        return hc_fail(err, ENOMEM, "'%s'", key);
    cJSON_DeleteItemFromObjectCaseSensitive(job->labels, key);
    if (cJSON_GetArraySize(job->labels) >= MAX_LABELS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d labels", MAX_LABELS);
    if (!cJSON_AddStringToObject(job->labels, key, value))
        return hc_fail(err, ENOMEM, "'%s'", key);
    return 0;
}

int hc_job_add_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err)
{
    struct hc_policy scratch;
    hc_policy_init(&scratch);
    if (hc_option_set(&scratch, opt, text, err) < 0)
        return -1;
    return add_override(job, opt, text, err);
}

/* ---- what every job must fulfil ---- */

static int check_code(const struct hc_job *job, struct hc_error *err)
{
    const char *code = job->code;
    size_t len = job->code_len, at;
    int line, column;
    if (!hc_utf8_valid(code, len, &at)) {
        hc_text_position(code, at, &line, &column);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "code: line %d, column %d: not UTF-8 (byte 0x%02x)", line,
                          column, (unsigned char)code[at]);
    }
    const char *nul = memchr(code, '\0', len);
    if (nul) {
        hc_text_position(code, (size_t)(nul - code), &line, &column);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "code: line %d: contains a NUL byte", line);
    }
    size_t mark = strncmp(code, HC_BOM, strlen(HC_BOM)) == 0 ? strlen(HC_BOM) : 0;
    if (code[mark + strspn(code + mark, " \t\r\n\f\v")] == '\0')
        return hc_fail_as(err, HC_EXIT_DATA, 0, "code is empty");
    return 0;
}

int hc_job_check_id(const char *id, struct hc_error *err)
{
    if (hc_is_id(id, MAX_NAME))
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "expected %s, got '%.80s'", id_shape, id);
}

static int check_id(const char *what, const char *id, struct hc_error *err)
{
    return id && hc_job_check_id(id, err) < 0 ? hc_ctx(err, "%s", what) : 0;
}

static int check_names(const struct hc_job *job, struct hc_error *err)
{
    for (size_t i = 0; i < job->input_count; i++) {
        struct hc_job before = {.input_count = i, .vars = job->vars};
        memcpy(before.inputs, job->inputs, i * sizeof *job->inputs);
        const char *bad = bad_variable(&before, job->inputs[i].name);
        if (bad)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: '%.64s': %s", job->inputs[i].name, bad);
    }
    return 0;
}

int hc_job_check(const struct hc_job *job, struct hc_error *err)
{
    if (!job->code)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no code to run");
    if (check_code(job, err) < 0 || check_id("job_id", job->job_id, err) < 0 ||
        check_id("tenant", job->tenant, err) < 0)
        return -1;
    return check_names(job, err);
}
