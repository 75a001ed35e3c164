#include "client/upload.h"

#include "base/fd.h"
#include "base/utf8.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of an input above which it does not go into the body, but before it; of a body above which inputs go
 * before it: http.body is 64 MiB unless the daemon says otherwise. */
#define LARGE    ((size_t)8 << 20)
#define MAX_BODY ((size_t)48 << 20)

/* ---- options that a daemon does not take ---- */

static int refuse_option(struct hc_error *err, const char *what, const char *why)
{
    return hc_fail_as(err, HC_EXIT_USAGE, 0, "%s: not for a job that a daemon runs: %s", what, why);
}

static bool is_limit(const struct hc_option *opt)
{
    return strncmp(opt->path, "limits.", strlen("limits.")) == 0;
}

static int check_overrides(const struct hc_job *job, struct hc_error *err)
{
    char flag[64];
    for (size_t i = 0; i < job->override_count; i++) {
        const struct hc_override *o = &job->overrides[i];
        if (strcmp(o->opt->path, "tree") == 0 && strchr(o->text, '/'))
            return refuse_option(err, "--tree", "it has its trees by their names");
        (void)snprintf(flag, sizeof flag, "--%s", o->opt->flag);
        if (strcmp(o->opt->path, "tree") != 0 && !is_limit(o->opt))
            return refuse_option(err, flag, "name a policy of the daemon's that says so");
    }
    return 0;
}

int hc_upload_check(const struct hc_job *job, struct hc_error *err)
{
    if (job->runner_form)
        return refuse_option(err, "df_paths", "the older runner's form is for --warm=no");
    if (job->dir_count)
        return refuse_option(err, "--dir", "it gives nobody directories of its host");
    if (job->policy && strchr(job->policy, '/'))
        return refuse_option(err, "--policy", "it has its policies by their names");
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        char flag[40];
        (void)snprintf(flag, sizeof flag, "--%s", row->flag);
        if (row->not_sent && (hc_job_text_of(job, row) || hc_job_flag_of(job, row)))
            return refuse_option(err, flag, row->not_sent);
    }
    return check_overrides(job, err);
}

/* ---- the members of the request ---- */

static void put_name(struct hc_buf *out, const char *name)
{
    (void)hc_buf_str(out, ", ");
    hc_json_quote(out, name, strlen(name));
    (void)hc_buf_str(out, ": ");
}

static void put_text(struct hc_buf *out, const char *name, const char *text)
{
    put_name(out, name);
    hc_json_quote(out, text, strlen(text));
}

static int put_base64(struct hc_buf *out, const char *before, const char *data, size_t len)
{
    size_t room = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    if (!text)
        return -1;
    (void)sodium_bin2base64(text, room, (const unsigned char *)data, len, sodium_base64_VARIANT_ORIGINAL);
    (void)hc_buf_fmt(out, "%s\"data\": ", before);
    hc_json_quote(out, text, strlen(text));
    free(text);
    return 0;
}

static bool is_text(const char *data, size_t len)
{
    return !len || (!memchr(data, '\0', len) && hc_utf8_valid(data, len, NULL));
}

static int put_stdin(struct hc_buf *out, const struct hc_job *job, struct hc_error *err)
{
    if (!job->has_stdin)
        return 0;
    put_name(out, "stdin");
    if (is_text(job->stdin_data, job->stdin_len)) {
        hc_json_quote(out, job->stdin_data ? job->stdin_data : "", job->stdin_len);
        return 0;
    }
    (void)hc_buf_str(out, "{");
    if (put_base64(out, "", job->stdin_data, job->stdin_len) < 0)
        return hc_fail(err, ENOMEM, "stdin");
    (void)hc_buf_str(out, "}");
    return 0;
}

/* Input that is UTF-8 goes as text: it is shorter than base64, and the daemon need not decode it. */
static int put_content(struct hc_buf *out, const struct hc_input *in, struct hc_error *err)
{
    hc_autobuf content = {0};
    if (hc_read_file(AT_FDCWD, in->path, &content, LARGE, err) < 0) {
        (void)hc_ctx(err, "input '%s'", in->name);
        return hc_exit_as(err, HC_EXIT_DATA);
    }
    if (is_text(content.data, content.len)) {
        put_name(out, "text");
        hc_json_quote(out, content.data ? content.data : "", content.len);
    } else if (put_base64(out, ", ", content.data, content.len) < 0) {
        return hc_fail(err, ENOMEM, "input '%s'", in->name);
    }
    return 0;
}

static int put_upload(struct hc_buf *out, const struct hc_input *in, struct hc_parts *parts,
                      struct hc_error *err)
{
    const char *id = hc_parts_send(parts, in, err);
    if (id)
        put_text(out, "upload", id);
    return id ? 0 : -1;
}

static bool is_large(const struct hc_input *in)
{
    struct stat st;
    return stat(in->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)LARGE;
}

/* Inputs that are small each, but make the body too large, are sent as the large ones are. */
static int put_input(struct hc_buf *out, const struct hc_input *in, struct hc_parts *parts,
                     struct hc_error *err)
{
    const char *slash = strrchr(in->path, '/'), *file = slash ? slash + 1 : in->path;
    (void)hc_buf_fmt(out, "\"%s%s\": {\"file\": ", in->name, hc_input_mark(in)); /* a name is an identifier */
    hc_json_quote(out, file, strlen(file));
    const size_t before = out->len;
    const bool large = is_large(in);
    int rc = large ? 0 : put_content(out, in, err);
    if (rc == 0 && (large || out->len > MAX_BODY)) {
        out->len = before;
        rc = put_upload(out, in, parts, err);
    }
    (void)hc_buf_str(out, "}");
    return rc;
}

static int put_inputs(struct hc_buf *out, const struct hc_job *job, struct hc_parts *parts,
                      struct hc_error *err)
{
    if (!job->input_count)
        return 0;
    put_name(out, "inputs");
    for (size_t i = 0; i < job->input_count; i++) {
        (void)hc_buf_str(out, i ? ", " : "{");
        if (put_input(out, &job->inputs[i], parts, err) < 0)
            return -1;
    }
    (void)hc_buf_str(out, "}");
    return 0;
}

static int put_json(struct hc_buf *out, const char *name, cJSON *value_taken, struct hc_error *err)
{
    char *text = value_taken ? cJSON_PrintUnformatted(value_taken) : NULL;
    cJSON_Delete(value_taken);
    if (!text)
        return hc_fail(err, ENOMEM, "%s", name);
    put_name(out, name);
    (void)hc_buf_str(out, text);
    cJSON_free(text);
    return 0;
}

/* Prints the limits as a policy file writes them: a policy takes the overrides, and prints each value. */
static int put_overrides(struct hc_buf *out, const struct hc_job *job, struct hc_error *err)
{
    struct hc_policy scratch;
    cJSON *limits = cJSON_CreateObject();
    int rc = limits ? 0 : hc_fail(err, ENOMEM, "limits");
    hc_policy_init(&scratch);
    if (rc == 0)
        rc = hc_overrides_apply(job->overrides, job->override_count, &scratch, err);
    for (size_t i = 0; rc == 0 && i < job->override_count; i++) {
        const struct hc_override *o = &job->overrides[i];
        if (!is_limit(o->opt))
            put_text(out, o->opt->path, o->text);
        else if (!cJSON_AddItemToObject(limits, strchr(o->opt->path, '.') + 1,
                                        hc_option_to_json(&scratch, o->opt)))
            rc = hc_fail(err, ENOMEM, "limits");
    }
    hc_policy_finish(&scratch);
    if (rc == 0)
        return put_json(out, "limits", limits, err);
    cJSON_Delete(limits);
    return -1;
}

static void put_returns(struct hc_buf *out, const struct hc_job *job)
{
    hc_autobuf one = {0};
    put_name(out, "return");
    for (size_t i = 0; i < job->return_count; i++) {
        hc_buf_clear(&one);
        (void)hc_buf_fmt(&one, "%s=%s", job->returns[i].name, job->returns[i].format);
        (void)hc_buf_str(out, i ? ", " : "[");
        hc_json_quote(out, one.data ? one.data : "", one.len);
    }
    (void)hc_buf_str(out, "]");
}

/* Prints the tools without their commands, which stay on this host. */
static int put_tools(struct hc_buf *out, const struct hc_tools *tools, struct hc_error *err)
{
    cJSON *all = tools->count ? hc_tools_to_json(tools) : NULL, *tool;
    if (tools->count == 0)
        return 0;
    cJSON_ArrayForEach(tool, all)
    {
        cJSON_DeleteItemFromObjectCaseSensitive(tool, "command");
    }
    return put_json(out, "tools", all, err);
}

/* Prints the options of job_options.def that the job has. */
static void put_options(struct hc_buf *out, const struct hc_job *job)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        const char *text = hc_job_text_of(job, row);
        if (text && !row->not_sent)
            put_text(out, row->name, text);
        if (hc_job_flag_of(job, row))
            (void)hc_buf_fmt(out, ", \"%s\": true", row->name);
    }
    if (!job->interface) /* the daemon would take the sender for a client of its own interface */
        put_text(out, "interface", hc_interface_names[0]);
}

static int put_members(struct hc_buf *out, const struct hc_job *job, const struct hc_tools *tools,
                       struct hc_parts *parts, struct hc_error *err)
{
    if (job->policy)
        put_text(out, "policy", job->policy);
    if (job->vars_text) {
        put_name(out, "vars");
        (void)hc_buf_str(out, job->vars_text);
    }
    put_options(out, job);
    if (job->has_seed)
        (void)hc_buf_fmt(out, ", \"seed\": %u", job->seed);
    if (job->return_count)
        put_returns(out, job);
    if (job->labels && put_json(out, "labels", cJSON_Duplicate(job->labels, true), err) < 0)
        return -1;
    if (job->args && put_json(out, "args", cJSON_Duplicate(job->args, true), err) < 0)
        return -1;
    if (job->env && put_json(out, "env", cJSON_Duplicate(job->env, true), err) < 0)
        return -1;
    if (put_stdin(out, job, err) < 0)
        return -1;
    if (job->override_count && put_overrides(out, job, err) < 0)
        return -1;
    return put_tools(out, tools, err) < 0 ? -1 : put_inputs(out, job, parts, err);
}

int hc_upload_print(const struct hc_job *job, const struct hc_tools *tools, struct hc_parts *parts,
                    struct hc_buf *out, struct hc_error *err)
{
    (void)hc_buf_str(out, job->is_command ? "{\"command\": " : "{\"code\": ");
    if (job->is_command)
        (void)hc_buf_add(out, job->code, job->code_len);
    else
        hc_json_quote(out, job->code, job->code_len);
    if (put_members(out, job, tools, parts, err) < 0)
        return -1;
    return hc_buf_str(out, "}\n") < 0 ? hc_fail(err, ENOMEM, "send the job") : 0;
}
