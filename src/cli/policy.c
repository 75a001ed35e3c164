/* hotcell policy show|check NAME - the effective policy, or only whether it is one. */
#include "cli/cli.h"

#include "cell/policies.h"
#include "spec/options.h"

#include <stdlib.h>
#include <string.h>

int hc_cmd_policy(int argc, char **argv)
{
    if (hc_wants_help(argc, argv)) {
        (void)puts("usage: hotcell policy show NAME    print the effective policy, \"extends\" resolved\n"
                   "       hotcell policy check NAME   say only whether it is valid");
        return HC_EXIT_OK;
    }
    bool show = argc == 3 && strcmp(argv[1], "show") == 0;
    if (!show && !(argc == 3 && strcmp(argv[1], "check") == 0))
        return hc_usage("policy", "expected 'show NAME' or 'check NAME'");
    struct hc_policy p;
    struct hc_error err;
    hc_policy_init(&p);
    int status = HC_EXIT_OK;
    if (hc_policy_load(&p, argv[2], hc_policies_read, NULL, &err) < 0)
        status = hc_report(&err);
    if (status == HC_EXIT_OK && show) {
        cJSON *json = hc_policy_to_json(&p);
        char *text = cJSON_Print(json);
        if (text)
            (void)puts(text);
        cJSON_free(text);
        cJSON_Delete(json);
    }
    hc_policy_finish(&p);
    return status;
}
