#include "cli/cli.h"
int hc_cmd_doctor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
