/* hotcell kernel - runs the cells of a Jupyter notebook in one session. This process reads the command line
 * and the policy, so that wrong ones are refused before a notebook waits for them, and becomes a Python
 * program (hotcell/kernel.py), which speaks Jupyter's protocol and starts `hotcell session`. */
#include "cli/cli.h"

#include "base/state.h"
#include "cli/request.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_head[] =
    "usage: hotcell kernel -f FILE [OPTION]...\n"
    "       hotcell kernel --install [--user] [--name NAME] [OPTION]...\n"
    "Run the cells of a Jupyter notebook in a cell that keeps its state (hotcell-kernel(1)).\n\n"
    "  -f, --connection FILE     Jupyter's connection file\n"
    "      --install             write a kernelspec, with which Jupyter starts the kernel with these "
    "options\n"
    "      --user                for this user only, with --install\n"
    "      --name NAME           the kernelspec's name, with --install (hotcell)\n" HC_HELP_OF_SESSIONS "\n"
    "Over the policy (hotcell-policy(5)); limits of time and size are those of one cell of the notebook:\n";

/* The command line of the Python program: MODE and its values, "--", the options of the session. Isolated
 * (-I): neither the caller's environment nor the current directory, where a notebook lies, adds a module. */
static int exec_kernel(const struct hc_request *q, struct hc_error *err)
{
    char program[PATH_MAX], self[PATH_MAX];
    const struct hc_kernel_options *k = q->kernel;
    const char *const name = k->name ? k->name : "hotcell";
    const char *argv[sizeof q->given / sizeof *q->given + 16] = {HC_HOST_PYTHON, "-I", "-B", "-X", "utf8"};
    size_t count = 5;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return hc_fail(err, errno, "find the place of the running binary");
    self[n] = '\0';
    if (hc_program_path("hotcell-kernel", program, err) < 0)
        return -1;
    argv[count++] = program;
    argv[count++] = self;
    argv[count++] = !k->install ? "run" : k->user ? "install-user" : "install";
    argv[count++] = k->install ? name : k->connection;
    for (size_t i = 0; i < q->given_count; i++)
        argv[count++] = q->given[i];
    (void)execv(HC_HOST_PYTHON, (char *const *)argv);
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, errno,
        "hotcell kernel needs the Debian packages python3 and python3-ipykernel: " HC_HOST_PYTHON);
}

static int run_kernel(struct hc_request *q, struct hc_error *err)
{
    const struct hc_kernel_options *k = q->kernel;
    if (q->tool_fd)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--tool-fd: a kernel has no client that could answer tools");
    if (!k->install == !k->connection)
        return hc_usage("kernel", "expected -f FILE, or --install");
    if (!k->install && (k->user || k->name))
        return hc_usage("kernel", "--user and --name are for --install");
    return exec_kernel(q, err);
}

int hc_cmd_kernel(int argc, char **argv)
{
    struct hc_kernel_options kernel = {0};
    struct hc_request q = {.command = "kernel", .live = true, .kernel = &kernel};
    return hc_request_serve(&q, argc, argv, help_head, run_kernel);
}
