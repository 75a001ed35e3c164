#include "job/job.h"

#include "job/job_parts.h"
#include "json/names.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One spec that is being parsed; all pointers are borrowed. */
struct spec {
    struct hc_job *job;         /* gets what the spec says */
    const struct hc_json *json; /* the spec's document */
    struct hc_uploads *uploads; /* NULL: inputs are paths of this host */
    bool is_run;                /* the spec is of a run of a session */
    bool begins_session;        /* the spec is of a session on this host, whose runs bring the programs */
    struct hc_policy scratch;   /* limits are set here only to check them */
};

typedef int member_parser(struct spec *s, const cJSON *node, struct hc_error *err);

struct member {
    const char *name;     /* name in the spec; NULL ends a list */
    member_parser *parse; /* reads the member's value into s->job */
};

static int wrong_type(const struct spec *s, const cJSON *node, const char *what, struct hc_error *err)
{
    return hc_json_fail(s->json, node, false, err, "%s: expected %s, got %s", node->string, what,
                        hc_json_kind(node));
}

static int copy_string(const struct spec *s, const cJSON *node, const char *what, char **out,
                       struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(s, node, what, err);
    *out = strdup(node->valuestring);
    return *out ? 0 : hc_fail(err, ENOMEM, "%s", node->string);
}

static int copy_filled_string(const struct spec *s, const cJSON *node, const char *what, char **out,
                              struct hc_error *err)
{
    if (cJSON_IsString(node) && !*node->valuestring)
        return hc_json_fail(s->json, node, false, err, "%s: expected %s, got an empty string", node->string,
                            what);
    return copy_string(s, node, what, out, err);
}

static int parse_code(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (copy_string(s, node, "the program's source as a string", &s->job->code, err) < 0)
        return -1;
    s->job->code_len = strlen(s->job->code);
    return 0;
}

static int parse_input_map(struct spec *s, const cJSON *node, bool frames, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of name and path", err);
    const cJSON *in;
    cJSON_ArrayForEach(in, node)
    {
        char name[HC_JOB_NAME + 2];
        enum hc_input_format format =
            hc_input_split(in->string, cJSON_IsString(in) ? in->valuestring : "", name);
        const char *bad = hc_job_bad_variable(NULL, name);
        if (bad)
            return hc_json_fail(s->json, in, true, err, "%s: '%.64s': %s", node->string, in->string, bad);
        if (!cJSON_IsString(in))
            return hc_json_fail(s->json, in, false, err, "%s.%s: expected a path, got %s", node->string,
                                in->string, hc_json_kind(in));
        if ((bad = hc_job_bad_path(in->valuestring)))
            return hc_json_fail(s->json, in, false, err, "%s.%s: %s", node->string, in->string, bad);
        if (s->job->input_count == HC_MAX_INPUTS)
            return hc_json_fail(s->json, in, true, err, "%s: more than %d", node->string, HC_MAX_INPUTS);
        if (hc_job_put_input(s->job, name, in->valuestring, frames ? HC_INPUT_FRAME : format, err) < 0)
            return -1;
    }
    return 0;
}

/* Parses "df_paths". The older runner read each of these files as JSON lines, whatever its name. */
static int parse_df_paths(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_input_map(s, node, true, err);
}

static int parse_upload(struct spec *s, const cJSON *in, struct hc_error *err)
{
    char *file, *place, name[HC_JOB_NAME + 2];
    (void)hc_input_split(in->string, "", name);
    const char *bad = hc_job_bad_variable(NULL, name);
    if (bad)
        return hc_json_fail(s->json, in, true, err, "inputs: '%.64s': %s", in->string, bad);
    const cJSON *own = hc_json_member(in, "path");
    if (cJSON_IsString(own) && !s->is_run)
        return hc_json_fail(s->json, own, false, err,
                            "inputs.%s.path: it is for runs of a session, of a file in its working directory",
                            name);
    if (cJSON_IsString(own) && (bad = hc_job_bad_own_file(own->valuestring)))
        return hc_json_fail(s->json, own, false, err, "inputs.%s.path: %s", name, bad);
    if (hc_job_put_upload(s->uploads, s->json, in, name, &file, &place, err) < 0)
        return -1;
    const char *late = s->uploads->list[s->uploads->count - 1].upload ? "upload" : place ? "place" : NULL;
    int rc = s->is_run && late
                 ? hc_json_fail(s->json, in, false, err,
                                "inputs.%s.%s: it is for jobs, and for sessions as they begin", name, late)
                 : hc_job_put_input(s->job, name, file, hc_input_split(in->string, file, name), err);
    if (rc == 0)
        s->job->inputs[s->job->input_count - 1].place = place;
    else
        free(place);
    free(file);
    return rc;
}

static int parse_uploads(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of name and content", err);
    const cJSON *in;
    cJSON_ArrayForEach(in, node)
    {
        if (s->job->input_count == HC_MAX_INPUTS)
            return hc_json_fail(s->json, in, true, err, "inputs: more than %d", HC_MAX_INPUTS);
        if (parse_upload(s, in, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_inputs(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_input_map(s, node, false, err);
}

/* The text of a member of a directory, or NULL if it has no such member; false: it is no string. */
static bool text_of(const cJSON *entry, const char *name, const char **out)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(entry, name);
    *out = cJSON_IsString(member) ? member->valuestring : NULL;
    return !member || *out;
}

/* Parses each member of a list of objects. */
static int parse_each(struct spec *s, const cJSON *node,
                      int (*parse)(struct spec *s, const cJSON *entry, struct hc_error *err),
                      struct hc_error *err)
{
    if (!cJSON_IsArray(node))
        return wrong_type(s, node, "a list of objects", err);
    const cJSON *entry;
    cJSON_ArrayForEach(entry, node)
    {
        if (parse(s, entry, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_dir(struct spec *s, const cJSON *entry, struct hc_error *err)
{
    const char *host, *place, *mode;
    const cJSON *member;
    cJSON_ArrayForEach(member, entry)
    {
        if (strcmp(member->string, "host") != 0 && strcmp(member->string, "place") != 0 &&
            strcmp(member->string, "mode") != 0)
            return hc_json_fail(s->json, member, true, err, "dirs: unknown member '%.64s'", member->string);
    }
    if (!cJSON_IsObject(entry) || !text_of(entry, "host", &host) || !text_of(entry, "place", &place) ||
        !text_of(entry, "mode", &mode) || !host)
        return hc_json_fail(s->json, entry, false, err,
                            "dirs: expected an object of 'host', 'place' and 'mode', which are strings");
    const char *bad = hc_job_put_dir(s->job, host, place, mode);
    return bad ? hc_json_fail(s->json, entry, false, err, "dirs: '%.200s': %s", host, bad) : 0;
}

static int parse_dirs(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_each(s, node, parse_dir, err);
}

static int parse_volume(struct spec *s, const cJSON *entry, struct hc_error *err)
{
    const char *name, *place;
    if (!cJSON_IsObject(entry) || cJSON_GetArraySize(entry) != 2 || !text_of(entry, "name", &name) ||
        !text_of(entry, "place", &place) || !name || !place)
        return hc_json_fail(s->json, entry, false, err,
                            "volumes: expected objects of 'name' and 'place', which are strings");
    const char *bad = hc_job_put_volume(s->job, name, place);
    return bad ? hc_json_fail(s->json, entry, false, err, "volumes: '%.64s': %s", name, bad) : 0;
}

static int parse_volumes(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return parse_each(s, node, parse_volume, err);
}

static int parse_vars(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of name and value", err);
    if (cJSON_GetArraySize(node) > HC_JOB_VARS)
        return hc_json_fail(s->json, node, false, err, "vars: more than %d", HC_JOB_VARS);
    const cJSON *var;
    cJSON_ArrayForEach(var, node)
    {
        const char *bad = hc_job_bad_variable(NULL, var->string);
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

/* Adds an override of the option `path`; `label` is its name in the spec, for messages. */
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
    return hc_job_put_override(s->job, opt, text, err);
}

static int refuse_session_member(const struct spec *s, const cJSON *node, const char *path,
                                 struct hc_error *err)
{
    return hc_json_fail(s->json, node, true, err,
                        "'%.96s' is for a session as a whole: give it when the session is begun", path);
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
        const struct hc_option *opt = hc_option_by_path(path);
        if (!opt) {
            hc_nearest_option("limits", limit->string, NULL, hint, sizeof hint);
            return hc_json_fail(s->json, limit, true, err, "unknown member '%.64s' in limits%s",
                                limit->string, hint);
        }
        if (s->is_run && !opt->of_run)
            return refuse_session_member(s, limit, path, err);
        if (override_json(s, path, path, limit, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_tree(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return override_json(s, "tree", "tree", node, err);
}

/* Parses a limit that must be a number, as in the older runner's form. */
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
    return copy_filled_string(s, node, "a policy's name or path", &s->job->policy, err);
}

static int refuse_path(const struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (cJSON_IsString(node) && strchr(node->valuestring, '/'))
        return hc_json_fail(s->json, node, false, err, "%s: expected a name, got a path", node->string);
    return 0;
}

static int parse_policy_name(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return refuse_path(s, node, err) < 0
               ? -1
               : copy_filled_string(s, node, "a policy's name", &s->job->policy, err);
}

static int parse_tree_name(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return refuse_path(s, node, err) < 0 ? -1 : parse_tree(s, node, err);
}

static int parse_output_dir(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return copy_filled_string(s, node, "a path", &s->job->output_dir, err);
}

static int copy_id(struct spec *s, const cJSON *node, char **out, struct hc_error *err)
{
    if (cJSON_IsString(node) && !hc_is_id(node->valuestring, HC_JOB_NAME))
        return hc_json_fail(s->json, node, false, err, "%s: expected %s", node->string, hc_job_id_shape);
    return copy_string(s, node, "a string", out, err);
}

/* Parses a member that has a row in job_options.def. */
static int parse_option(struct spec *s, const struct hc_job_option *row, const cJSON *node,
                        struct hc_error *err)
{
    if (!row->is_flag && row->is_id)
        return copy_id(s, node, hc_job_text(s->job, row), err);
    char list[HC_JOB_CHOICES];
    const char *expected =
        row->choices && cJSON_IsString(node) ? hc_job_bad_choice(row, node->valuestring, list) : NULL;
    if (expected)
        return hc_json_fail(s->json, node, false, err, "%s: expected %s, got '%.40s'", row->name, expected,
                            node->valuestring);
    if (!row->is_flag)
        return copy_filled_string(s, node, row->shape, hc_job_text(s->job, row), err);
    if (!cJSON_IsBool(node))
        return wrong_type(s, node, "true or false", err);
    *hc_job_flag(s->job, row) = cJSON_IsTrue(node);
    return 0;
}

static int parse_labels(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(s, node, "an object of strings", err);
    if (cJSON_GetArraySize(node) > HC_JOB_LABELS)
        return hc_json_fail(s->json, node, false, err, "labels: more than %d", HC_JOB_LABELS);
    const cJSON *label;
    cJSON_ArrayForEach(label, node)
    {
        if (!cJSON_IsString(label))
            return hc_json_fail(s->json, label, false, err, "labels.%.64s: expected a string, got %s",
                                label->string, hc_json_kind(label));
        const char *bad = hc_job_bad_label(label->string, label->valuestring);
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
        const char *bad = hc_job_put_return(s->job, item->valuestring);
        if (bad)
            return hc_json_fail(s->json, item, false, err, "return: '%.64s': %s", item->valuestring, bad);
    }
    return 0;
}

static int parse_tools(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return hc_tools_read(&s->job->tools, s->json, node, false, err);
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

static int parse_args(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return hc_job_parse_args(s->job, s->json, node, err);
}

static int parse_command(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return hc_job_parse_command(s->job, s->json, node, err);
}

static int parse_env(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return hc_job_parse_env(s->job, s->json, node, err);
}

static int parse_stdin(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return hc_job_parse_input(s->job, s->json, node, err);
}

static int parse_context(struct spec *s, const cJSON *node, struct hc_error *err)
{
    return copy_id(s, node, &s->job->context, err);
}

static int parse_interactive(struct spec *s, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsBool(node))
        return wrong_type(s, node, "true or false", err);
    s->job->interactive = cJSON_IsTrue(node);
    return 0;
}

/* The members of a spec of each form, in addition to those with rows in job_options.def. */
static const struct member own_form[] = {
    {"code", parse_code},
    {"inputs", parse_inputs},
    {"vars", parse_vars},
    {"policy", parse_policy},
    {"tree", parse_tree},
    {"output_dir", parse_output_dir},
    {"limits", parse_limits},
    {"labels", parse_labels},
    {"seed", parse_seed},
    {"return", parse_return},
    {"tools", parse_tools},
    {"dirs", parse_dirs},
    {"stdin", parse_stdin},
    {"args", parse_args},
    {"env", parse_env},
    {"command", parse_command},
    {NULL, NULL},
};

static const struct member runner_form[] = {
    {"code", parse_code},
    {"df_paths", parse_df_paths},
    {"output_dir", parse_output_dir},
    {"max_output_bytes", parse_max_output_bytes},
    {"max_figures", parse_max_figures},
    {NULL, NULL},
};

/* A remote sender's form has no member that names a file of this host. */
static const struct member upload_form[] = {
    {"code", parse_code},       {"inputs", parse_uploads},
    {"vars", parse_vars},       {"policy", parse_policy_name},
    {"tree", parse_tree_name},  {"limits", parse_limits},
    {"labels", parse_labels},   {"seed", parse_seed},
    {"return", parse_return},   {"tools", parse_tools},
    {"stdin", parse_stdin},     {"args", parse_args},
    {"env", parse_env},         {"volumes", parse_volumes},
    {"command", parse_command}, {NULL, NULL},
};

/* A session's form lacks the members that describe one program: they are for its runs. */
static const struct member session_form[] = {
    {"inputs", parse_uploads},
    {"vars", parse_vars},
    {"policy", parse_policy_name},
    {"tree", parse_tree_name},
    {"limits", parse_limits},
    {"labels", parse_labels},
    {"seed", parse_seed},
    {"tools", parse_tools},
    {"env", parse_env},
    {"volumes", parse_volumes},
    {NULL, NULL},
};

/* The same of a session on this host, which may have this host's files. */
static const struct member own_session_form[] = {
    {"inputs", parse_inputs},
    {"vars", parse_vars},
    {"policy", parse_policy},
    {"tree", parse_tree},
    {"output_dir", parse_output_dir},
    {"limits", parse_limits},
    {"labels", parse_labels},
    {"seed", parse_seed},
    {"tools", parse_tools},
    {"dirs", parse_dirs},
    {"env", parse_env},
    {NULL, NULL},
};

/* The form of a session's run has no members for files of this host: its cell exists already, and gets no
 * more mounts.
 */
static const struct member run_form[] = {
    {"code", parse_code},       {"inputs", parse_uploads},  {"vars", parse_vars},
    {"limits", parse_limits},   {"return", parse_return},   {"stdin", parse_stdin},
    {"args", parse_args},       {"env", parse_env},         {"interactive", parse_interactive},
    {"command", parse_command}, {"context", parse_context}, {NULL, NULL},
};

/* One form of a spec. */
struct form {
    const struct member *members; /* members without a row in job_options.def; the last name is NULL */
    unsigned spec;                /* HC_SPEC_* of the rows of job_options.def that belong to the form */
};

static const struct form by_owner = {own_form, HC_SPEC_OWN}, by_runner = {runner_form, HC_SPEC_RUNNER},
                         by_sender = {upload_form, HC_SPEC_UPLOAD},
                         of_a_session = {session_form, HC_SPEC_SESSION},
                         of_own_session = {own_session_form, HC_SPEC_OWN}, of_a_run = {run_form, HC_SPEC_RUN};

static const struct form *form_of(const struct spec *s)
{
    if (s->is_run)
        return &of_a_run;
    if (s->begins_session)
        return &of_own_session;
    if (s->job->session)
        return &of_a_session;
    if (s->uploads)
        return &by_sender;
    return s->job->runner_form ? &by_runner : &by_owner;
}

#define MOST_MEMBERS 32 /* members of the largest form, rows of job_options.def included, and a NULL */

/* The names of all members of a form, NULL behind the last. */
static void list_members(const struct form *form, const char *out[MOST_MEMBERS])
{
    size_t n = 0;
    for (const struct member *m = form->members; m->name; m++)
        out[n++] = m->name;
    for (size_t i = 0; i < hc_job_options_count && n < MOST_MEMBERS - 1; i++)
        if (hc_job_options[i].specs & form->spec)
            out[n++] = hc_job_options[i].name;
    out[n] = NULL;
}

static bool has_member(const struct form *form, const char *name)
{
    const char *names[MOST_MEMBERS];
    list_members(form, names);
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int unknown_member(const struct spec *s, const cJSON *node, const struct form *form,
                          struct hc_error *err)
{
    const char *known[MOST_MEMBERS];
    char hint[160];
    list_members(form, known);
    if ((form == &of_a_session || form == &of_own_session) && has_member(&by_sender, node->string))
        return hc_json_fail(s->json, node, true, err, "'%.64s' is for a run of a session", node->string);
    if (form == &of_a_run && has_member(&by_owner, node->string))
        return refuse_session_member(s, node, node->string, err);
    if (s->uploads && has_member(&by_owner, node->string))
        return hc_json_fail(s->json, node, true, err, "'%.64s' is not the sender's to say", node->string);
    for (size_t i = 0; form != &by_runner && i < hc_options_count; i++)
        if (strcmp(hc_options[i].path, node->string) == 0)
            return hc_json_fail(s->json, node, true, err,
                                "'%.64s' is for a policy to say (hotcell-policy(5))", node->string);
    if (form != &by_runner)
        hc_nearest_option("", node->string, known, hint, sizeof hint);
    else
        hc_nearest(node->string, known, hint, sizeof hint);
    return hc_json_fail(s->json, node, true, err, "unknown member '%.64s'%s%s", node->string,
                        form == &by_runner ? " in a spec of the older runner's form" : "", hint);
}

static int parse_member(struct spec *s, const cJSON *node, const struct form *form, struct hc_error *err)
{
    for (const struct member *m = form->members; m->name; m++)
        if (strcmp(m->name, node->string) == 0)
            return m->parse(s, node, err);
    for (size_t i = 0; i < hc_job_options_count; i++)
        if ((hc_job_options[i].specs & form->spec) && strcmp(hc_job_options[i].name, node->string) == 0)
            return parse_option(s, &hc_job_options[i], node, err);
    return unknown_member(s, node, form, err);
}

/* Has the spec a member that only the older runner's form has? */
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
    if (hc_job_put_override(job, hc_option_by_path("limits.stdout"), "200000", err) < 0)
        return -1;
    return hc_job_put_override(job, hc_option_by_path("limits.figures"), "20", err);
}

/* Refuses a name that is both among "inputs" and among "vars": both become variables of the same program. */
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

/* Adds the path of a file that the session's working directory has already; "": the input is no such file. */
static void put_own_path(struct hc_buf *out, const char *path)
{
    hc_autobuf whole = {0};
    if (!*path)
        return;
    (void)hc_buf_fmt(&whole, "%s%s", *path == '/' ? "" : "/output/", path);
    (void)hc_buf_str(out, ",\"path\":");
    hc_json_quote(out, whole.data ? whole.data : "", whole.len);
    out->failed |= whole.failed;
}

/* Refuses members that a command has no use for: they are for a program in Python. */
static int refuse_beside_command(const struct spec *s, struct hc_error *err)
{
    static const char *const others[] = {"vars", "return", "tools", "args"};
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(s->json->root, "command");
    if (command && cJSON_GetObjectItemCaseSensitive(s->json->root, "code"))
        return hc_json_fail(s->json, command, true, err,
                            "expected either 'code', a program, or 'command', and not both");
    for (size_t i = 0; command && i < sizeof others / sizeof *others; i++) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(s->json->root, others[i]);
        if (other && other->child)
            return hc_json_fail(s->json, other, true, err,
                                "'%s' is for a program in Python, and 'command' is none", others[i]);
    }
    return 0;
}

/* Turns the inputs of a session's run into `given`: the launcher puts what it can into the working directory,
 * and the interpreter makes variables of them. */
static int make_given(struct spec *s, struct hc_error *err)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(s->json->root, "inputs");
    const cJSON *file = files->child; /* they are in the order of the inputs */
    hc_autobuf out = {0};
    for (size_t i = 0; i < s->job->input_count; i++, file = file->next) {
        const struct hc_input *in = &s->job->inputs[i];
        size_t len = 0;
        const char *text = hc_json_source(s->json, file, &len);
        (void)hc_buf_fmt(&out, "%s{\"name\":\"%s\",\"format\":\"%s\",\"file\":%.*s", i ? "," : "[", in->name,
                         hc_input_format_name(in->format), (int)len, text ? text : "");
        put_own_path(&out, hc_json_text(file, "path"));
        (void)hc_buf_str(&out, "}");
        out.failed |= !text;
    }
    for (; s->job->input_count > 0; s->job->input_count--) {
        free(s->job->inputs[s->job->input_count - 1].name);
        free(s->job->inputs[s->job->input_count - 1].path);
    }
    (void)hc_buf_str(&out, "]");
    s->job->given = hc_buf_take(&out);
    return s->job->given ? 0 : hc_fail(err, ENOMEM, "inputs");
}

/* The interpreter of a session keeps its directory from run to run: only a command begins in one of its own.
 */
static int check_workdir(const struct spec *s, struct hc_error *err)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(s->json->root, "workdir");
    if (!s->is_run || !s->job->workdir)
        return 0;
    if (!s->job->is_command)
        return hc_json_fail(s->json, node, true, err,
                            "workdir: in a session only a command has it; a program calls os.chdir");
    if (s->job->workdir[0] != '/')
        return hc_json_fail(s->json, node, false, err,
                            "workdir: expected an absolute path in the cell, got '%.200s'", s->job->workdir);
    return 0;
}

static int parse_spec(struct spec *s, struct hc_error *err)
{
    const cJSON *root = s->json->root, *node;
    if (!cJSON_IsObject(root))
        return hc_json_fail(s->json, root, false, err, "expected an object, got %s", hc_json_kind(root));
    if (!s->uploads && !s->begins_session && is_runner_form(root) && start_runner_form(s->job, err) < 0)
        return -1;
    cJSON_ArrayForEach(node, root)
    {
        if (parse_member(s, node, form_of(s), err) < 0)
            return -1;
    }
    if (s->begins_session)
        return refuse_shared_names(s, err);
    if (!s->job->code && !s->job->session)
        return hc_json_fail(s->json, root, false, err, "expected a member 'code', which holds the program");
    if (refuse_beside_command(s, err) < 0)
        return -1;
    if (refuse_shared_names(s, err) < 0 || check_workdir(s, err) < 0)
        return -1;
    if (s->job->interactive && s->job->has_stdin)
        return hc_json_fail(s->json, root, false, err,
                            "expected either 'stdin' or 'interactive', and not both");
    s->job->has_stdin |= s->job->interactive;
    return s->is_run && s->job->input_count > 0 ? make_given(s, err) : 0;
}

/* Parses a spec into s->job; the members of `s` tell its form. */
static int parse_text(struct spec *s, bool session, const char *name, const char *text, size_t len,
                      struct hc_error *err)
{
    struct hc_json json;
    struct hc_job *job = s->job;
    *job = (struct hc_job){.session = session};
    if (hc_json_parse(&json, name, text, len, err) < 0)
        return -1;
    s->json = &json;
    hc_policy_init(&s->scratch);
    int rc = parse_spec(s, err);
    hc_json_finish(&json);
    if (rc == 0)
        return 0;
    hc_job_finish(job);
    return err->exit == HC_EXIT_CONFIG ? hc_exit_as(err, HC_EXIT_DATA) : -1;
}

int hc_job_parse(struct hc_job *job, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct spec s = {.job = job};
    return parse_text(&s, false, name, text, len, err);
}

int hc_job_parse_session(struct hc_job *job, const char *name, const char *text, size_t len,
                         struct hc_error *err)
{
    struct spec s = {.job = job, .begins_session = true};
    return parse_text(&s, false, name, text, len, err);
}

int hc_job_parse_upload(struct hc_job *job, struct hc_uploads *uploads, bool session, const char *name,
                        const char *text, size_t len, struct hc_error *err)
{
    struct spec s = {.job = job, .uploads = uploads};
    *uploads = (struct hc_uploads){0};
    if (parse_text(&s, session, name, text, len, err) == 0)
        return 0;
    hc_uploads_finish(uploads);
    return -1;
}

int hc_job_parse_run(struct hc_job *job, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct hc_uploads checked = {0};
    struct spec s = {.job = job, .uploads = &checked, .is_run = true};
    int rc = parse_text(&s, false, name, text, len, err);
    hc_uploads_finish(&checked);
    return rc;
}
