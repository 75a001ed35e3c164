/* hotcell options --fill FILE - print a man page's source with the option table put where it says @OPTIONS@,
 * @POLICY_OPTIONS@ or @POLICY_RULES@. Used by the build, so that pages and program cannot differ. */
#include "cli/cli.h"

#include "base/fd.h"
#include "spec/options.h"

#include <fcntl.h>
#include <string.h>

static const struct hc_page_part parts[] = {
    {"@OPTIONS@", hc_options_print_man},
    {"@POLICY_OPTIONS@", hc_options_print_policy_man},
    {"@POLICY_RULES@", hc_rules_print_man},
    {NULL, NULL},
};

int hc_cmd_options(int argc, char **argv)
{
    struct hc_error err;
    hc_autobuf text = {0};
    if (argc != 3 || strcmp(argv[1], "--fill") != 0)
        return hc_usage("options", "expected --fill FILE");
    if (hc_read_file(AT_FDCWD, argv[2], &text, 1 << 20, &err) < 0)
        return hc_report(&err);
    hc_page_fill(text.data, parts, stdout);
    return HC_EXIT_OK;
}
