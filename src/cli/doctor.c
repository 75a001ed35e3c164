/* hotcell doctor - what this host can and cannot do, in one line each. */
#include "cli/cli.h"

#include "cell/host.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "usage: hotcell doctor [--json]\n"
                           "Try everything that cells need of this host, and say what is missing, what that "
                           "costs and what mends it.\n\n"
                           "  ok     it works\n"
                           "  note   runs work, with less\n"
                           "  FAIL   a run under the default policy would not work\n\n"
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
    (void)fflush(stdout); /* some checks take a moment */
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

int hc_cmd_doctor(int argc, char **argv)
{
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--json") == 0)
        return print_json();
    if (argc != 1)
        return hc_usage("doctor", "expected nothing but --json, got '%s'", argv[1]);
    return hc_host_examine(print_row, NULL) ? HC_EXIT_OK : HC_EXIT_UNAVAILABLE;
}
