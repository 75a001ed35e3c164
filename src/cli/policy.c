/* hotcell policy list|show|check|explain|diff|card|learn - prints policies, checks and compares them, and
 * explains what enforces them. */
#include "cli/policy.h"

#include "cell/card.h"

#include "base/arguments.h"
#include "cell/policies.h"
#include "cli/cli.h"
#include "policy/options.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: hotcell policy list [--json]        name the policies that are found, and what each is for\n"
    "       hotcell policy show NAME            print the policy, \"extends\" resolved\n"
    "       hotcell policy show --effective [--sha256] [-p NAME] [--tool NAME=COMMAND]... [--LIMIT "
    "VALUE]...\n"
    "                                           print what would be in force for a job: the text (or its "
    "hash)\n"
    "                                           whose hash is in manifests as policy.sha256\n"
    "       hotcell policy show SHA256          print the policy that a job was run under here: its hash, "
    "or\n"
    "                                           at least 8 digits of it\n"
    "       hotcell policy check NAME           say only whether it is valid\n"
    "       hotcell policy explain NAME         print what enforces each of its fields\n"
    "       hotcell policy diff NAME OTHER      print how another one differs; exit 1 if it does\n"
    "       hotcell policy card [--json] [-t TREE] [NAME]\n"
    "                                           print what the writer of a program should know\n"
    "       hotcell policy learn [OPTION]... FILE\n"
    "                                           run a program that you trust, print what policy it needs\n";

static int load(struct hc_policy *p, const char *name)
{
    struct hc_error err;
    hc_policy_init(p);
    return hc_policy_load(p, name, hc_policies_read, NULL, &err) < 0 ? hc_report(&err) : HC_EXIT_OK;
}

static int explain(const char *name)
{
    struct hc_policy p;
    int status = load(&p, name);
    if (status == HC_EXIT_OK)
        status = hc_policy_explain(&p);
    hc_policy_finish(&p);
    return status;
}

static int diff(const char *name, const char *other)
{
    struct hc_policy a, b;
    int status = load(&a, name);
    if (status != HC_EXIT_OK) {
        hc_policy_finish(&a);
        return status;
    }
    status = load(&b, other);
    if (status == HC_EXIT_OK)
        status = hc_policy_diff(&a, &b);
    hc_policy_finish(&a);
    hc_policy_finish(&b);
    return status;
}

/* Give the policy the tree of a job, if one is named; with layers that the policy allows. */
static int set_tree(struct hc_policy *p, const char *tree, struct hc_error *err)
{
    if (tree && hc_option_set(p, hc_option_by_path("tree"), tree, err) < 0)
        return -1;
    return hc_policy_check_layers(p, err);
}

static int card(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"tree", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
    const char *tree = NULL;
    bool json = false;
    int opt;
    while ((opt = hc_getopt(argc, argv, ":t:", options)) != -1) {
        if (opt == ':')
            return hc_usage("policy", "card: %s needs a value", argv[optind - 1]);
        if (opt == '?')
            return hc_unknown_option("policy", options, argv[optind - 1]);
        json |= opt == 'j';
        tree = opt == 't' ? optarg : tree;
    }
    if (argc - optind > 1)
        return hc_usage("policy", "card: expected one NAME, got '%s' too", argv[optind + 1]);
    struct hc_policy p;
    int status = load(&p, optind < argc ? argv[optind] : "default");
    struct hc_error err;
    if (status == HC_EXIT_OK && (set_tree(&p, tree, &err) < 0 || hc_card_print(&p, json, stdout, &err) < 0))
        status = hc_report(&err);
    hc_policy_finish(&p);
    return status;
}

int hc_cmd_policy(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "learn") == 0)
        return hc_policy_learn(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "show") == 0 && !hc_wants_help(argc, argv))
        return hc_policy_show(argc - 1, argv + 1);
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    if (argc >= 2 && strcmp(argv[1], "list") == 0)
        return hc_policy_list(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "card") == 0)
        return card(argc - 1, argv + 1);
    if (argc == 4 && strcmp(argv[1], "diff") == 0)
        return diff(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "check") == 0)
        return hc_policy_check(argv[2]);
    if (argc == 3 && strcmp(argv[1], "explain") == 0)
        return explain(argv[2]);
    return hc_usage("policy", "expected 'list', 'show NAME', 'check NAME', 'explain NAME', "
                              "'diff NAME OTHER', 'card [--json] [-t TREE] [NAME]' or 'learn FILE'");
}
