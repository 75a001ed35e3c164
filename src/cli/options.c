/* hotcell options --fill FILE - print a man page's source with tables in the place of @OPTIONS@,
 * @POLICY_OPTIONS@ and other names; the templates of JSON documents are filled likewise. hotcell options
 * --json - print the version, and for each limit its kind and its help text. hotcell options --python - print
 * the module facts.py of the Python package. Used by the build, so that pages and programs cannot differ. */
#include "cli/cli.h"

#include "base/fd.h"
#include "cli/facts.h"
#include "cli/option_facts.h"
#include "policy/options.h"

#include <fcntl.h>
#include <string.h>

static const struct hc_page_part parts[] = {
    {"@OPTIONS@", hc_options_print_man},
    {"@JOB_OPTIONS@", hc_facts_print_job_options_json},
    {"@RUN_OPTIONS@", hc_facts_print_run_options_json},
    {"@JOB_LIMITS@", hc_facts_print_job_limits_json},
    {"@RUN_LIMITS@", hc_facts_print_run_limits_json},
    {"@LIMITS@", hc_facts_print_limits_json},
    {"@LIMIT_NAMES@", hc_facts_print_limit_names_json},
    {"@ENFORCED_BY@", hc_facts_print_enforced_json},
    {"@ENFORCED_BY_NAMES@", hc_facts_print_enforced_names_json},
    {"@JOB_ITEMS@", hc_facts_print_job_options_man},
    {"@JOB_MEMBERS@", hc_facts_print_job_members_man},
    {"@JOB_NOT_SENT@", hc_facts_print_not_sent_man},
    {"@RUN_ITEMS@", hc_facts_print_run_options_man},
    {"@POLICY_OPTIONS@", hc_options_print_policy_man},
    {"@POLICY_RULES@", hc_rules_print_man},
    {"@STATUSES@", hc_facts_print_statuses_man},
    {"@STATUS_NAMES@", hc_facts_print_statuses_json},
    {"@ENDED_STATUS_NAMES@", hc_facts_print_ended_json},
    {"@USAGE@", hc_facts_print_usage_man},
    {"@USAGE_PROPERTIES@", hc_facts_print_usage_json},
    {"@USAGE_NAMES@", hc_facts_print_usage_names_json},
    {"@DENIALS@", hc_facts_print_denials_man},
    {"@REFUSERS@", hc_facts_print_refusers_man},
    {"@DENIAL_PROPERTIES@", hc_facts_print_denial_json},
    {"@DENIAL_NAMES@", hc_facts_print_denial_names_json},
    {"@ENFORCED@", hc_facts_print_enforced_man},
    {"@LAYERS@", hc_facts_print_layers_man},
    {NULL, NULL},
};

static void print_limit(const struct hc_option *opt, bool first)
{
    const char *kind = opt->kind == HC_OPT_SIZE ? "size" : opt->kind == HC_OPT_DURATION ? "duration" : "";
    hc_autobuf help = {0};
    hc_json_quote(&help, opt->help, strlen(opt->help));
    (void)printf("%s\n  \"%s\": [\"%s\", %s]", first ? "" : ",", opt->path, kind, help.data);
}

static int print_json(void)
{
    bool first = true;
    (void)printf("{\"version\": \"" HC_VERSION "\", \"limits\": {");
    for (size_t i = 0; i < hc_options_count; i++)
        if (strncmp(hc_options[i].path, "limits.", strlen("limits.")) == 0) {
            print_limit(&hc_options[i], first);
            first = false;
        }
    (void)puts("\n}}");
    return HC_EXIT_OK;
}

int hc_cmd_options(int argc, char **argv)
{
    struct hc_error err;
    hc_autobuf text = {0};
    if (argc == 2 && strcmp(argv[1], "--json") == 0)
        return print_json();
    if (argc == 2 && strcmp(argv[1], "--python") == 0) {
        hc_facts_print_python(stdout);
        return HC_EXIT_OK;
    }
    if (argc != 3 || strcmp(argv[1], "--fill") != 0)
        return hc_usage("options", "expected --fill FILE, --json or --python");
    if (hc_read_file(AT_FDCWD, argv[2], &text, 1 << 20, &err) < 0)
        return hc_report(&err);
    hc_page_fill(text.data, parts, stdout);
    return HC_EXIT_OK;
}
