/* hotcell doctor - tests what cells need of this host, and prints a line for each test. */
#include "cli/cli.h"

#include "cell/host.h"
#include "cli/drill.h"

#include "base/arguments.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: hotcell doctor [--json]\n"
    "       hotcell doctor --drill [-p POLICY] [-t TREE] [--attack NAME] [--warm] [--json]\n"
    "Try everything that cells need of this host, and say what is missing, what that "
    "costs and what mends it.\n\n"
    "  ok     it works\n"
    "  note   runs work, with less\n"
    "  FAIL   a run under the default policy would not work\n\n"
    "With --drill, attack cells of the policy (default: default) from inside, with "
    "and without its guard,\n"
    "and say for each attack and each layer of isolation whether it held.\n"
    "  -p, --policy POLICY   the policy whose cells are attacked\n"
    "  -t, --tree TREE       the tree to attack from, instead of the policy's\n"
    "      --attack NAME     try one attack only\n"
    "      --warm            attack cells that waited for a job, as hotcelld has them\n"
    "      --json            print one object\n\n"
    "Exit status 69 if there is a FAIL, else 0.\n";

static void print_row(void *ctx, const struct hc_host_row *row)
{
    (void)ctx;
    bool fail = row->level == HC_HOST_FAIL;
    (void)printf("%-5s %-23s %s", fail ? "FAIL" : hc_host_level_name(row->level), row->name, row->detail);
    if (*row->cost)
        (void)printf(": %s", row->cost);
    if (*row->mend)
        (void)printf("; %s", row->mend);
    (void)putchar('\n');
    (void)fflush(stdout); /* the next check may take a moment */
}

static void add_row(void *ctx, const struct hc_host_row *row)
{
    cJSON *item = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(item, "name", row->name);
    (void)cJSON_AddStringToObject(item, "level", hc_host_level_name(row->level));
    (void)cJSON_AddStringToObject(item, "detail", row->detail);
    (void)cJSON_AddStringToObject(item, "cost", row->cost);
    (void)cJSON_AddStringToObject(item, "mend", row->mend);
    (void)cJSON_AddItemToArray(ctx, item);
}

static int print_json(void)
{
    cJSON *rows = cJSON_CreateArray();
    bool ok = hc_host_examine(add_row, rows);
    cJSON *all = cJSON_CreateObject();
    (void)cJSON_AddBoolToObject(all, "ok", ok);
    (void)cJSON_AddItemToObject(all, "checks", rows);
    char *text = cJSON_Print(all);
    cJSON_Delete(all);
    if (!text) {
        hc_warn("out of memory");
        return HC_EXIT_INTERNAL;
    }
    (void)puts(text);
    cJSON_free(text);
    return ok ? HC_EXIT_OK : HC_EXIT_UNAVAILABLE;
}

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},       {"json", no_argument, NULL, 'j'},
    {"drill", no_argument, NULL, 'd'},      {"policy", required_argument, NULL, 'p'},
    {"tree", required_argument, NULL, 't'}, {"attack", required_argument, NULL, 'a'},
    {"warm", no_argument, NULL, 'w'},       {NULL, 0, NULL, 0},
};

/* Options for a drill without --drill are an error, as they would have no effect. */
static int read_options(int argc, char **argv, struct hc_drill_options *drill, bool *drilled)
{
    int opt;
    bool of_drill = false;
    while ((opt = hc_getopt(argc, argv, ":p:t:", options)) != -1) {
        const char **const value = opt == 'p'   ? &drill->policy
                                   : opt == 't' ? &drill->tree
                                   : opt == 'a' ? &drill->attack
                                                : NULL;
        if (value) {
            *value = optarg;
            of_drill = true;
        } else if (opt == 'w') {
            drill->warm = of_drill = true;
        } else if (opt == 'd') {
            *drilled = true;
        } else if (opt == 'j') {
            drill->json = true;
        } else if (opt == ':') {
            return hc_usage("doctor", "%s needs a value", argv[optind - 1]);
        } else {
            return hc_unknown_option("doctor", options, argv[optind - 1]);
        }
    }
    if (optind < argc)
        return hc_usage("doctor", "expected options only, got '%s'", argv[optind]);
    return of_drill && !*drilled ? hc_usage("doctor", "-p, -t, --attack and --warm need --drill") : 0;
}

int hc_cmd_doctor(int argc, char **argv)
{
    struct hc_drill_options drill = {0};
    bool drilled = false;
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    int status = read_options(argc, argv, &drill, &drilled);
    if (status != 0)
        return status;
    if (drilled)
        return hc_drill_serve(&drill);
    if (drill.json)
        return print_json();
    return hc_host_examine(print_row, NULL) ? HC_EXIT_OK : HC_EXIT_UNAVAILABLE;
}
