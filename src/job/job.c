#include "job/job.h"

#include "base/units.h"
#include "base/utf8.h"
#include "job/job_parts.h"
#include "json/names.h"
#include "json/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_LABEL 1024 /* most bytes of a label's value */

const char hc_job_id_shape[] = "1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'";

void hc_job_finish(struct hc_job *job)
{
    free(job->code);
    for (size_t i = 0; i < job->input_count; i++) {
        free(job->inputs[i].name);
        free(job->inputs[i].path);
        free(job->inputs[i].place);
    }
    hc_job_free_dirs(job);
    cJSON_Delete(job->vars);
    free(job->vars_text);
    free(job->given);
    free(job->context);
    cJSON_Delete(job->args);
    cJSON_Delete(job->env);
    free(job->stdin_data);
    free(job->policy);
    free(job->output_dir);
    for (size_t i = 0; i < job->override_count; i++)
        free(job->overrides[i].text);
    cJSON_Delete(job->labels);
    for (size_t i = 0; i < job->return_count; i++)
        free(job->returns[i].name);
    for (size_t i = 0; i < hc_job_options_count; i++)
        if (!hc_job_options[i].is_flag)
            free(*hc_job_text(job, &hc_job_options[i]));
    hc_tools_finish(&job->tools);
    for (size_t i = 0; i < job->tool_command_count; i++)
        free(job->tool_commands[i]);
    *job = (struct hc_job){0};
}

const char *hc_job_override(const struct hc_job *job, const char *path)
{
    const char *value = NULL;
    for (size_t i = 0; i < job->override_count; i++)
        if (strcmp(job->overrides[i].opt->path, path) == 0)
            value = job->overrides[i].text;
    return value;
}

const char *hc_job_policy(const struct hc_job *job)
{
    const char *otherwise = job->runner_form ? "analysis" : "default";
    return job->policy ? job->policy : otherwise;
}

/* ---- inputs ---- */

static bool name_taken(const struct hc_job *job, const char *name)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (strcmp(job->inputs[i].name, name) == 0)
            return true;
    return job->vars && cJSON_GetObjectItemCaseSensitive(job->vars, name);
}

const char *hc_job_bad_variable(const struct hc_job *job, const char *name)
{
    if (!hc_is_variable(name))
        return "expected a Python identifier, no keyword, of at most 64 bytes, not beginning with '__'";
    if (job && name_taken(job, name))
        return "the name is given twice among inputs and vars";
    return NULL;
}

const char *hc_job_bad_path(const char *path)
{
    if (!*path)
        return "expected a path, got an empty string";
    return strlen(path) >= PATH_MAX ? "the path is too long" : NULL;
}

int hc_job_put_input(struct hc_job *job, const char *name, const char *path, enum hc_input_format format,
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

/* ---- returned variables ---- */

static const char *const return_formats[] = {"auto", "exact", "json", "npy", "csv", "jsonl"};

static const char no_memory[] = "out of memory";

const char *hc_job_put_return(struct hc_job *job, const char *text)
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
    char name[HC_JOB_NAME + 1];
    if (len > HC_JOB_NAME)
        return "the name is too long";
    (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
    if (!hc_is_word(name) && !hc_is_variable(name))
        return "expected a Python name";
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

/* ---- limits and labels ---- */

int hc_job_put_override(struct hc_job *job, const struct hc_option *opt, const char *text,
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

const char *hc_job_bad_label(const char *key, const char *value)
{
    if (!*key || strlen(key) > HC_JOB_NAME)
        return "expected a key of 1 to 64 bytes";
    return strlen(value) > MAX_LABEL ? "longer than 1024 bytes" : NULL;
}

/* ---- a command line ---- */

const char *hc_job_split_assignment(const char *assignment, const char *what, char name[HC_JOB_NAME + 1],
                                    struct hc_error *err)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        (void)hc_fail_as(err, HC_EXIT_USAGE, 0, "expected %s, got '%.80s'", what, assignment);
        return NULL;
    }
    size_t len = (size_t)(equals - assignment);
    if (len > HC_JOB_NAME) {
        (void)hc_fail_as(err, HC_EXIT_USAGE, 0, "'%.80s...': the name is longer than %d bytes", assignment,
                         HC_JOB_NAME);
        return NULL;
    }
    memcpy(name, assignment, len);
    name[len] = '\0';
    return equals + 1;
}

int hc_job_add_input(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char given[HC_JOB_NAME + 1], name[HC_JOB_NAME + 2];
    const char *path = hc_job_split_assignment(assignment, "NAME=FILE", given, err);
    if (!path)
        return -1;
    enum hc_input_format format = hc_input_split(given, path, name);
    const char *bad = hc_job_bad_variable(job, name);
    if (!bad)
        bad = hc_job_bad_path(path);
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad);
    if (job->input_count == HC_MAX_INPUTS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d inputs", HC_MAX_INPUTS);
    return hc_job_put_input(job, name, path, format, err);
}

/* Checks that the value by itself is JSON: other text could close the object in which it is put and add
 * members. Two objects are around it in the handover, so it may be nested two levels less deep than a
 * document. */
static int check_var(const char *name, const char *text, struct hc_error *err)
{
    hc_autoscan scan;
    if (hc_scan(&scan, name, text, strlen(text), 2, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    return 0;
}

int hc_job_add_var(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char name[HC_JOB_NAME + 1];
    const char *text = hc_job_split_assignment(assignment, "NAME=JSON", name, err);
    if (!text)
        return -1;
    const char *bad = hc_job_bad_variable(job, name);
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad);
    if (check_var(name, text, err) < 0)
        return -1;
    if (job->vars && cJSON_GetArraySize(job->vars) >= HC_JOB_VARS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d variables", HC_JOB_VARS);

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
    job->vars = hc_json_take(&json);
    free(job->vars_text);
    job->vars_text = hc_buf_take(&joined);
    return 0;
}

int hc_job_add_return(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    const char *bad = hc_job_put_return(job, assignment);
    int exit = bad == no_memory ? HC_EXIT_INTERNAL : HC_EXIT_USAGE;
    return bad ? hc_fail_as(err, exit, 0, "'%.80s': %s", assignment, bad) : 0;
}

int hc_job_add_label(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char key[HC_JOB_NAME + 1];
    size_t wrong;
    const char *value = hc_job_split_assignment(assignment, "KEY=VALUE", key, err);
    if (!value)
        return -1;
    const char *bad = hc_job_bad_label(key, value);
    if (!hc_utf8_valid(assignment, strlen(assignment), &wrong))
        bad = "not UTF-8";
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", key, bad);
    if (!job->labels && !(job->labels = cJSON_CreateObject()))
        return hc_fail(err, ENOMEM, "'%s'", key);
    cJSON_DeleteItemFromObjectCaseSensitive(job->labels, key);
    if (cJSON_GetArraySize(job->labels) >= HC_JOB_LABELS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d labels", HC_JOB_LABELS);
    if (!cJSON_AddStringToObject(job->labels, key, value))
        return hc_fail(err, ENOMEM, "'%s'", key);
    return 0;
}

int hc_job_add_tool(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    struct hc_tools scratch = {0};
    int rc = hc_tools_add_command(&scratch, assignment, err);
    hc_tools_finish(&scratch);
    if (rc < 0)
        return -1;
    if (job->tool_command_count == HC_MAX_TOOLS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d tools", HC_MAX_TOOLS);
    char *copy = strdup(assignment);
    if (!copy)
        return hc_fail(err, ENOMEM, "tools");
    job->tool_commands[job->tool_command_count++] = copy;
    return 0;
}

int hc_job_put_tools(struct hc_job *job, struct hc_policy *policy, struct hc_error *err)
{
    if (hc_tools_move(&policy->tools, &job->tools, err) < 0)
        return -1;
    for (size_t i = 0; i < job->tool_command_count; i++)
        if (hc_tools_add_command(&policy->tools, job->tool_commands[i], err) < 0)
            return hc_ctx(err, "--tool");
    static const char *const names[] = {"tools", "ToolError"}; /* variables that a program with tools gets */
    for (size_t i = 0; policy->tools.count && i < sizeof names / sizeof *names; i++)
        if (name_taken(job, names[i]))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s' is a name of the program already, as it has tools",
                              names[i]);
    return 0;
}

int hc_job_apply(const struct hc_job *job, struct hc_policy *policy, struct hc_error *err)
{
    if (hc_policy_note_base(policy, err) < 0)
        return -1;
    return hc_overrides_apply(job->overrides, job->override_count, policy, err);
}

int hc_job_add_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err)
{
    struct hc_policy scratch;
    hc_policy_init(&scratch);
    if (hc_option_set(&scratch, opt, text, err) < 0)
        return -1;
    return hc_job_put_override(job, opt, text, err);
}

/* ---- checks of every job ---- */

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
    return 0;
}

int hc_job_check_id(const char *id, struct hc_error *err)
{
    if (hc_is_id(id, HC_JOB_NAME))
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "expected %s, got '%.80s'", hc_job_id_shape, id);
}

static int check_ids(const struct hc_job *job, struct hc_error *err)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const char *id = hc_job_options[i].is_id ? hc_job_text_of(job, &hc_job_options[i]) : NULL;
        if (id && hc_job_check_id(id, err) < 0)
            return hc_ctx(err, "%s", hc_job_options[i].name);
    }
    return 0;
}

static int check_names(const struct hc_job *job, struct hc_error *err)
{
    for (size_t i = 0; i < job->input_count; i++) {
        struct hc_job before = {.input_count = i, .vars = job->vars};
        memcpy(before.inputs, job->inputs, i * sizeof *job->inputs);
        const char *bad = hc_job_bad_variable(&before, job->inputs[i].name);
        if (bad)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: '%.64s': %s", job->inputs[i].name, bad);
    }
    return 0;
}

int hc_job_check(const struct hc_job *job, struct hc_error *err)
{
    if (!job->code && !job->session)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no code to run");
    if ((job->code && check_code(job, err) < 0) || check_ids(job, err) < 0)
        return -1;
    return check_names(job, err);
}

int hc_job_check_texts(const struct hc_job *job, const struct hc_limits *given, int64_t most,
                       struct hc_error *err)
{
    struct hc_policy asked;
    struct hc_error ignored;
    char size[2][32];
    int rc = 0;
    hc_policy_init(&asked);
    asked.limits = *given;
    (void)hc_overrides_apply(job->overrides, job->override_count, &asked, &ignored);
    const struct {
        const char *path;
        int64_t asked, given;
    } rows[] = {
        {"limits.stdout", asked.limits.stdout_bytes, given->stdout_bytes},
        {"limits.stderr", asked.limits.stderr_bytes, given->stderr_bytes},
        {"limits.value", asked.limits.value_bytes, given->value_bytes},
    };
    for (size_t i = 0; rc == 0 && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].asked > MAX(rows[i].given, most))
            rc = hc_fail_as(err, HC_EXIT_DATA, 0,
                            "%s: expected at most %s, got %s: write what is larger into a file", rows[i].path,
                            hc_format_size(MAX(rows[i].given, most), size[0], sizeof size[0]),
                            hc_format_size(rows[i].asked, size[1], sizeof size[1]));
    hc_policy_finish(&asked);
    return rc;
}
