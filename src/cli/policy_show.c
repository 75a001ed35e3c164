/* hotcell policy show - prints a policy as loaded, as it would apply to a job, or as it applied to a past
 * job. */
#include "cli/policy.h"

#include "cell/policies.h"
#include "cell/policy_store.h"
#include "cli/cli.h"
#include "job/job.h"

#include "base/arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_DIGITS 8 /* fewest digits of a hash that can name a policy */

enum { OPT_POLICY = 'p', OPT_EFFECTIVE = 256, OPT_SHA256, OPT_TOOL, OPT_FIRST };

/* The parsed command line. */
struct show {
    struct hc_job job;    /* has the policy to show, and limits and tools that change it */
    bool effective, hash; /* --effective; --sha256 */
};

static int take_name(struct hc_job *job, const char *name)
{
    if (job->policy)
        return hc_usage("policy", "show: one policy is shown at a time");
    job->policy = strdup(name);
    return job->policy ? HC_EXIT_OK : HC_EXIT_INTERNAL;
}

static int take_limit(struct hc_job *job, const struct hc_option *opt, const char *text)
{
    struct hc_error err;
    if (hc_job_add_override(job, opt, text, &err) == 0)
        return HC_EXIT_OK;
    (void)hc_ctx(&err, "--%s", opt->flag);
    return hc_report(&err);
}

static int take_tool(struct hc_job *job, const char *assignment)
{
    struct hc_error err;
    return hc_job_add_tool(job, assignment, &err) < 0 ? hc_usage("policy", "show: --tool: %.500s", err.text)
                                                      : HC_EXIT_OK;
}

/* Applies one option; `option`: its text on the command line, for messages. */
static int take_option(struct show *s, int opt, const char *option)
{
    switch (opt) {
    case OPT_POLICY:
        return take_name(&s->job, optarg);
    case OPT_EFFECTIVE:
        s->effective = true;
        return HC_EXIT_OK;
    case OPT_TOOL:
        return take_tool(&s->job, optarg);
    case OPT_SHA256:
        s->hash = true;
        return HC_EXIT_OK;
    case '?':
    case ':':
        return hc_usage("policy", opt == ':' ? "show: %.80s needs a value" : "show: unknown option %.80s",
                        option);
    default:
        return take_limit(&s->job, &hc_options[opt - OPT_FIRST], optarg);
    }
}

static struct option *all_options(void)
{
    static const struct option own[] = {{"policy", required_argument, NULL, OPT_POLICY},
                                        {"effective", no_argument, NULL, OPT_EFFECTIVE},
                                        {"sha256", no_argument, NULL, OPT_SHA256},
                                        {"tool", required_argument, NULL, OPT_TOOL}};
    const size_t count = sizeof own / sizeof *own;
    struct option *all = calloc(count + hc_options_count + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, own, sizeof own);
    for (size_t i = 0; i < hc_options_count; i++)
        all[count + i] = (struct option){hc_options[i].flag, required_argument, NULL, OPT_FIRST + (int)i};
    return all;
}

static int read_options(struct show *s, int argc, char **argv)
{
    struct option *all = all_options();
    int status = all ? HC_EXIT_OK : HC_EXIT_INTERNAL;
    opterr = 0;
    for (int opt; status == HC_EXIT_OK && (opt = hc_getopt(argc, argv, ":p:t:", all)) >= 0;)
        status = opt == 't' ? take_limit(&s->job, hc_option_by_flag("tree"), optarg)
                            : take_option(s, opt, argv[optind - 1]);
    free(all);
    while (status == HC_EXIT_OK && optind < argc)
        status = take_name(&s->job, argv[optind++]);
    if (status == HC_EXIT_OK && !s->effective &&
        (s->hash || s->job.override_count || s->job.tool_command_count))
        return hc_usage("policy", "show: --sha256, --tool and limits are for --effective");
    if (status == HC_EXIT_OK && !s->effective && !s->job.policy)
        return hc_usage("policy", "show: expected the name of a policy, or a hash");
    return status;
}

/* Prints the text. Its hash is of these bytes alone, so a newline is added on a terminal only. */
static int print(const char *text, size_t len)
{
    (void)fwrite(text, 1, len, stdout);
    if (isatty(STDOUT_FILENO))
        (void)putchar('\n');
    return HC_EXIT_OK;
}

static int show_effective(struct show *s, struct hc_policy *p, struct hc_error *err)
{
    char sha256[HC_SHA256_HEX];
    if (hc_job_apply(&s->job, p, err) < 0 || hc_job_put_tools(&s->job, p, err) < 0 ||
        hc_policy_hash(p, sha256, err) < 0)
        return -1;
    if (s->hash) {
        (void)puts(sha256);
        return HC_EXIT_OK;
    }
    char *text = hc_policy_text(p);
    if (!text)
        return HC_EXIT_INTERNAL;
    int status = print(text, strlen(text));
    cJSON_free(text);
    return status;
}

static int show_loaded(const struct hc_policy *p)
{
    cJSON *json = hc_policy_to_json(p);
    char *text = cJSON_Print(json);
    if (text)
        (void)puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
    return text ? HC_EXIT_OK : HC_EXIT_INTERNAL;
}

/* Is the text a hash, or enough digits of one to differ from most names? */
static bool is_hash(const char *name)
{
    size_t len = strlen(name);
    return len >= LEAST_DIGITS && len < HC_SHA256_HEX && !name[strspn(name, "0123456789abcdefABCDEF")];
}

static int show_kept(const char *hash, struct hc_error *err)
{
    hc_autobuf text = {0};
    char digits[HC_SHA256_HEX];
    size_t i = 0;
    for (; hash[i]; i++)
        digits[i] = (char)tolower((unsigned char)hash[i]);
    digits[i] = '\0';
    return hc_policy_find(digits, &text, err) < 0 ? -1 : print(text.data, text.len);
}

/* Does the argument name a stored policy by its hash? A policy's name may consist of digits too, and goes
 * first unless it is as long as a whole hash. */
static bool is_kept(const struct show *s)
{
    hc_autobuf text = {0};
    char *file = NULL;
    struct hc_error ignored;
    if (s->effective || !s->job.policy || !is_hash(s->job.policy))
        return false;
    if (strlen(s->job.policy) == HC_SHA256_HEX - 1)
        return true;
    bool named = hc_policies_read(NULL, s->job.policy, NULL, &text, &file, &ignored) == 0;
    free(file);
    return !named;
}

static int show(struct show *s, struct hc_error *err)
{
    struct hc_policy p;
    if (is_kept(s))
        return show_kept(s->job.policy, err);
    if (hc_policy_load(&p, hc_job_policy(&s->job), hc_policies_read, NULL, err) < 0)
        return -1;
    int status = s->effective ? show_effective(s, &p, err) : show_loaded(&p);
    hc_policy_finish(&p);
    return status;
}

int hc_policy_show(int argc, char **argv)
{
    struct show s = {0};
    struct hc_error err;
    int status = read_options(&s, argc, argv);
    if (status == HC_EXIT_OK && (status = show(&s, &err)) < 0)
        status = hc_report(&err);
    hc_job_finish(&s.job);
    return status;
}
