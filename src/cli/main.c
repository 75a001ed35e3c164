/* hotcell - run untrusted Python in cells.
 *
 * One process: this one, the launcher. It never links libpython and never parses guest code. `hotcell run`
 * clones the cell's first process, which ends as hotcell-shim; see cell/launch/run.c and inside/inside.c. */
#include "cli/cli.h"

#include "base/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const struct hc_command commands[] = {
    {"run", "run a Python program in a cell", hc_cmd_run},
    {"exec", "execute a program of the tree in a cell", hc_cmd_exec},
    {"check", "say what a policy refuses in a program", hc_cmd_check},
    {"session", "run programs one after another in a cell that keeps its state", hc_cmd_session},
    {"kernel", "run the cells of a Jupyter notebook in a cell that keeps its state", hc_cmd_kernel},
    {"batch", "run many programs, one a line", hc_cmd_batch},
    {"replay", "run a program that was kept once more, and compare", hc_cmd_replay},
    {"mcp", "serve cells to assistants over the Model Context Protocol", hc_cmd_mcp},
    {"tree", "build, list, verify and remove trees", hc_cmd_tree},
    {"policy", "show and check policies", hc_cmd_policy},
    {"verify", "check a manifest's signature and files", hc_cmd_verify},
    {"workspace", "show, apply or drop what a job changed in a copy", hc_cmd_workspace},
    {"report", "make pages for people who review jobs", hc_cmd_report},
    {"jobs", "list jobs of hotcelld, or show one", hc_cmd_jobs},
    {"cancel", "end jobs and sessions of hotcelld", hc_cmd_order},
    {"hold", "let a tenant's jobs wait", hc_cmd_order},
    {"release", "let them run again", hc_cmd_order},
    {"drain", "have hotcelld take no new jobs", hc_cmd_order},
    {"resume", "have it take jobs again", hc_cmd_order},
    {"usage", "say what tenants of hotcelld have used", hc_cmd_usage},
    {"doctor", "say what this host can and cannot do", hc_cmd_doctor},
    {"clean", "remove what launchers left that were killed", hc_cmd_clean},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static void print_help(void)
{
    (void)puts("usage: hotcell COMMAND [ARGUMENT]...\n       hotcell COMMAND --help\n\nCommands:");
    for (size_t i = 0; i < COMMANDS; i++)
        (void)printf("  %-9s  %s\n", commands[i].name, commands[i].summary);
    (void)puts("\n  --version, --help");
}

/* Bytes that the stack and the heap need at least. A process whose stack cannot grow dies without a message.
 */
#define ROOM ((size_t)1 << 20)

static bool has_room(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    // cppcheck-suppress invalidFunctionArg
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, ROOM) == 0;
}

int main(int argc, char **argv)
{
    int status = hc_program_begin();
    if (status != HC_EXIT_OK)
        return status;
    if (!has_room()) {
        hc_warn("the limit of address space (RLIMIT_AS, \"ulimit -v\") is too low");
        return HC_EXIT_INTERNAL;
    }
    if (argc < 2)
        return hc_usage("", "expected a command");
    if (strcmp(argv[1], "--version") == 0) {
        (void)puts("hotcell " HC_VERSION " (Python " HC_PYTHON_ABI ")");
        return hc_program_end(HC_EXIT_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return hc_program_end(HC_EXIT_OK);
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return hc_program_end(commands[i].run(argc - 1, argv + 1));
    return hc_usage("", "there is no command '%s'", argv[1]);
}
