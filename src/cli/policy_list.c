/* hotcell policy list - names the policies that are found, and what each is for. */
#include "cli/policy.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "cell/policies.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Add a name of a file, which may be no UTF-8, unlike JSON. */
static bool add_name(cJSON *row, const char *key, const char *name)
{
    hc_autobuf text = {0};
    return hc_utf8_scrub(&text, name, strlen(name)) == 0 &&
           cJSON_AddStringToObject(row, key, text.data ? text.data : "");
}

/* One policy as {"name", "file", "description" or "error"}; NULL: no memory. */
static cJSON *make_row(const char *name)
{
    struct hc_error err, unread;
    struct hc_policy p;
    hc_autobuf text = {0};
    char *file = NULL;
    cJSON *row = cJSON_CreateObject();
    hc_policy_init(&p);
    const bool usable = hc_policy_load(&p, name, hc_policies_read, NULL, &err) == 0;
    (void)hc_policies_read(NULL, name, NULL, &text, &file, &unread); /* only for the file's path */
    const char *said = usable ? p.description : err.text;
    const bool whole = add_name(row, "name", name) && add_name(row, "file", file ? file : "") &&
                       (!said || cJSON_AddStringToObject(row, usable ? "description" : "error", said));
    free(file);
    hc_policy_finish(&p);
    if (whole)
        return row;
    cJSON_Delete(row);
    return NULL;
}

static int print_json(const cJSON *rows)
{
    char *text = cJSON_Print(rows);
    if (!text)
        return HC_EXIT_INTERNAL;
    (void)puts(text);
    cJSON_free(text);
    return HC_EXIT_OK;
}

static int print_lines(const cJSON *rows)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const char *name = hc_json_text(row, "name"), *error = hc_json_text(row, "error");
        const char *text = *error ? error : hc_json_text(row, "description");
        hc_autobuf line = {0};
        if (hc_buf_fmt(&line, "%-*s%s%s", *text ? 17 : 0, name, *error ? "cannot be used: " : "", text) < 0)
            return HC_EXIT_INTERNAL;
        hc_plain_line(line.data);
        (void)puts(line.data);
    }
    return HC_EXIT_OK;
}

int hc_policy_list(int argc, char **argv)
{
    struct hc_error err;
    char **names;
    const bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !json)
        return hc_usage("policy", "list: expected at most --json");
    if (hc_policies_list(&names, &err) < 0)
        return hc_report(&err);
    cJSON *rows = cJSON_CreateArray();
    bool whole = rows;
    for (size_t i = 0; whole && names[i]; i++) {
        cJSON *row = make_row(names[i]);
        whole = row && cJSON_AddItemToArray(rows, row);
    }
    hc_policies_free(names);
    const int status = !whole ? HC_EXIT_INTERNAL : json ? print_json(rows) : print_lines(rows);
    cJSON_Delete(rows);
    return status;
}
