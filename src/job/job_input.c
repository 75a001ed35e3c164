/* What a program reads beside its data: standard input, arguments, environment. */
#include "job/job_parts.h"

#include "base/units.h"
#include "base/utf8.h"
#include "json/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS      256
#define MAX_ARG_BYTES 65536 /* most bytes of all arguments together */

static const char no_memory[] = "out of memory";

/* ---- environment ---- */

const char *hc_job_put_env(struct hc_job *job, const char *name, const char *value)
{
    if (!hc_is_word(name) || strlen(name) > HC_MAX_ENV_NAME)
        return "expected a name of 1 to 64 letters, digits and '_', not beginning with a digit";
    const char *refusal = hc_env_refusal(name, true);
    if (refusal)
        return refusal;
    if (strlen(value) > HC_MAX_ENV_VALUE)
        return "the value is longer than 4096 bytes";
    if (!job->env && !(job->env = cJSON_CreateObject()))
        return no_memory;
    cJSON_DeleteItemFromObjectCaseSensitive(job->env, name);
    if (cJSON_GetArraySize(job->env) >= HC_MAX_ENV)
        return "more than 64 variables";
    return cJSON_AddStringToObject(job->env, name, value) ? NULL : no_memory;
}

int hc_job_add_env(struct hc_job *job, const char *assignment, struct hc_error *err)
{
    char name[HC_JOB_NAME + 1];
    const char *value = hc_job_split_assignment(assignment, "NAME=VALUE", name, err);
    if (!value)
        return -1;
    const char *bad =
        hc_utf8_valid(value, strlen(value), NULL) ? hc_job_put_env(job, name, value) : "not UTF-8";
    return bad ? hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad) : 0;
}

int hc_job_parse_env(struct hc_job *job, const struct hc_json *json, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return hc_json_fail(json, node, false, err, "env: expected an object of strings, got %s",
                            hc_json_kind(node));
    const cJSON *var;
    cJSON_ArrayForEach(var, node)
    {
        if (!cJSON_IsString(var))
            return hc_json_fail(json, var, false, err, "env.%.64s: expected a string, got %s", var->string,
                                hc_json_kind(var));
        const char *bad = hc_job_put_env(job, var->string, var->valuestring);
        if (bad)
            return hc_json_fail(json, var, true, err, "env: '%.64s': %s", var->string, bad);
    }
    return 0;
}

/* ---- arguments ---- */

/* Add one argument. Returns what is wrong, or NULL. */
static const char *put_arg(cJSON *args, const char *text, size_t *bytes)
{
    *bytes += strlen(text) + 1;
    if (cJSON_GetArraySize(args) >= MAX_ARGS)
        return "more than 256 arguments";
    if (*bytes > MAX_ARG_BYTES)
        return "the arguments have more than 65536 bytes";
    cJSON *item = cJSON_CreateString(text);
    if (item && cJSON_AddItemToArray(args, item))
        return NULL;
    cJSON_Delete(item);
    return no_memory;
}

/* A list of texts from a command line; the caller owns it. NULL: `what` is wrong. */
static cJSON *list_of(const char *what, char *const *args, size_t count, struct hc_error *err)
{
    size_t bytes = 0;
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; list && i < count; i++) {
        bool text = hc_utf8_valid(args[i], strlen(args[i]), NULL);
        const char *bad = text ? put_arg(list, args[i], &bytes) : "not UTF-8";
        if (!bad)
            continue;
        cJSON_Delete(list);
        (void)hc_fail_as(err, HC_EXIT_USAGE, 0, "argument %zu of the %s: %s", i + 1, what, bad);
        return NULL;
    }
    if (!list)
        (void)hc_fail(err, ENOMEM, "arguments");
    return list;
}

/* The same from a member of a spec. */
static cJSON *list_in(const struct hc_json *json, const cJSON *node, struct hc_error *err)
{
    size_t bytes = 0;
    const char *name = node->string;
    if (!cJSON_IsArray(node)) {
        (void)hc_json_fail(json, node, false, err, "%s: expected a list of strings, got %s", name,
                           hc_json_kind(node));
        return NULL;
    }
    cJSON *list = cJSON_CreateArray();
    const cJSON *arg;
    cJSON_ArrayForEach(arg, node)
    {
        const char *bad = !list                 ? no_memory
                          : cJSON_IsString(arg) ? put_arg(list, arg->valuestring, &bytes)
                                                : NULL;
        if (!bad && cJSON_IsString(arg))
            continue;
        (void)(bad ? hc_json_fail(json, arg, false, err, "%s: %s", name, bad)
                   : hc_json_fail(json, arg, false, err, "%s: expected a string, got %s", name,
                                  hc_json_kind(arg)));
        cJSON_Delete(list);
        return NULL;
    }
    if (!list)
        (void)hc_fail(err, ENOMEM, "%s", name);
    return list;
}

int hc_job_set_args(struct hc_job *job, char *const *args, size_t count, struct hc_error *err)
{
    cJSON_Delete(job->args);
    job->args = list_of("program", args, count, err);
    return job->args ? 0 : -1;
}

int hc_job_parse_args(struct hc_job *job, const struct hc_json *json, const cJSON *node, struct hc_error *err)
{
    job->args = list_in(json, node, err);
    return job->args ? 0 : -1;
}

/* ---- commands ---- */

/* Makes `code` of the arguments, which it frees. */
static int keep_command(struct hc_job *job, cJSON *list, struct hc_error *err)
{
    free(job->code);
    job->code = cJSON_PrintUnformatted(list);
    cJSON_Delete(list);
    if (!job->code)
        return hc_fail(err, ENOMEM, "command");
    job->code_len = strlen(job->code);
    job->is_command = true;
    return 0;
}

/* What is wrong with the arguments of a command; NULL: nothing. */
static const char *bad_command(const cJSON *list)
{
    return !list->child                 ? "expected the name of a program, got no argument"
           : !*list->child->valuestring ? "expected the name of a program, got an empty text"
                                        : NULL;
}

int hc_job_set_command(struct hc_job *job, char *const *args, size_t count, struct hc_error *err)
{
    cJSON *list = list_of("command", args, count, err);
    const char *bad = list ? bad_command(list) : NULL;
    if (list && !bad)
        return keep_command(job, list, err);
    cJSON_Delete(list);
    return list ? hc_fail_as(err, HC_EXIT_USAGE, 0, "%s", bad) : -1;
}

int hc_job_parse_command(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                         struct hc_error *err)
{
    cJSON *list = list_in(json, node, err);
    const char *bad = list ? bad_command(list) : NULL;
    if (list && !bad)
        return keep_command(job, list, err);
    cJSON_Delete(list);
    return list ? hc_json_fail(json, node, false, err, "command: %s", bad) : -1;
}

/* ---- standard input ---- */

static int take_base64(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                       struct hc_error *err)
{
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(node, "data");
    if (!cJSON_IsString(data) || cJSON_GetArraySize(node) != 1)
        return hc_json_fail(json, node, false, err,
                            "stdin: expected a string, or an object with one member \"data\", in base64");
    int rc = hc_job_decode_base64(data->valuestring, &job->stdin_data, &job->stdin_len, err);
    return rc > 0 ? hc_json_fail(json, data, false, err, "stdin.data: expected base64") : rc;
}

void hc_job_drop_stdin(struct hc_job *job)
{
    free(job->stdin_data);
    job->stdin_data = NULL;
    job->stdin_len = 0;
}

int hc_job_parse_input(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                       struct hc_error *err)
{
    job->has_stdin = true;
    if (cJSON_IsObject(node))
        return take_base64(job, json, node, err);
    if (!cJSON_IsString(node))
        return hc_json_fail(json, node, false, err,
                            "stdin: expected a string, or an object with \"data\", got %s",
                            hc_json_kind(node));
    job->stdin_data = strdup(node->valuestring);
    job->stdin_len = strlen(node->valuestring);
    return job->stdin_data ? 0 : hc_fail(err, ENOMEM, "stdin");
}

/* ---- what a policy refuses ---- */

static const char *refuse_env(const struct hc_job *job, const struct hc_policy *policy, char *why,
                              size_t size)
{
    int count = cJSON_GetArraySize(job->env);
    if (count > policy->limits.env) {
        (void)snprintf(why, size, "the job sets %d environment variables, more than %lld (limits.env)", count,
                       (long long)policy->limits.env);
        return "env_count";
    }
    const cJSON *var;
    cJSON_ArrayForEach(var, job->env)
    {
        if (!cJSON_GetObjectItemCaseSensitive(policy->env, var->string))
            continue;
        (void)snprintf(why, size, "the job sets the environment variable %s, which the policy sets",
                       var->string);
        return "env";
    }
    return NULL;
}

static const char *refuse_command(const struct hc_policy *policy, char *why, size_t size)
{
    if (hc_policy_has_commands(policy))
        return NULL;
    (void)snprintf(
        why, size,
        "policy '%s' executes no programs of the tree (commands.allow): a policy that does is \"shell\"",
        policy->name);
    return "commands";
}

const char *hc_job_refuse_input(const struct hc_job *job, const struct hc_policy *policy, char *why,
                                size_t size)
{
    char text[32];
    const char *rule = job->is_command ? refuse_command(policy, why, size) : NULL;
    if (rule)
        return rule;
    if ((int64_t)job->stdin_len <= policy->limits.stdin_bytes)
        return job->env ? refuse_env(job, policy, why, size) : NULL;
    (void)snprintf(why, size, "standard input has %zu bytes, more than %s (limits.stdin)", job->stdin_len,
                   hc_format_size(policy->limits.stdin_bytes, text, sizeof text));
    return "stdin_size";
}
