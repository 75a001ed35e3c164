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

int hc_job_set_args(struct hc_job *job, char *const *args, size_t count, struct hc_error *err)
{
    size_t bytes = 0;
    cJSON_Delete(job->args);
    job->args = cJSON_CreateArray();
    if (!job->args)
        return hc_fail(err, ENOMEM, "arguments");
    for (size_t i = 0; i < count; i++) {
        bool text = hc_utf8_valid(args[i], strlen(args[i]), NULL);
        const char *bad = text ? put_arg(job->args, args[i], &bytes) : "not UTF-8";
        if (bad)
            return hc_fail_as(err, HC_EXIT_USAGE, 0, "argument %zu of the program: %s", i + 1, bad);
    }
    return 0;
}

int hc_job_parse_args(struct hc_job *job, const struct hc_json *json, const cJSON *node, struct hc_error *err)
{
    size_t bytes = 0;
    if (!cJSON_IsArray(node))
        return hc_json_fail(json, node, false, err, "args: expected a list of strings, got %s",
                            hc_json_kind(node));
    if (!(job->args = cJSON_CreateArray()))
        return hc_fail(err, ENOMEM, "args");
    const cJSON *arg;
    cJSON_ArrayForEach(arg, node)
    {
        if (!cJSON_IsString(arg))
            return hc_json_fail(json, arg, false, err, "args: expected a string, got %s", hc_json_kind(arg));
        const char *bad = put_arg(job->args, arg->valuestring, &bytes);
        if (bad)
            return hc_json_fail(json, arg, false, err, "args: %s", bad);
    }
    return 0;
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

const char *hc_job_refuse_input(const struct hc_job *job, const struct hc_policy *policy, char *why,
                                size_t size)
{
    char text[32];
    if ((int64_t)job->stdin_len <= policy->limits.stdin_bytes)
        return job->env ? refuse_env(job, policy, why, size) : NULL;
    (void)snprintf(why, size, "standard input has %zu bytes, more than %s (limits.stdin)", job->stdin_len,
                   hc_format_size(policy->limits.stdin_bytes, text, sizeof text));
    return "stdin_size";
}
