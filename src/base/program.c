#include "base/program.h"

#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of stack: more than twice the most that any of hotcell's programs was measured to use. */
#define STACK ((rlim_t)1 << 20)

/* The caller may have closed standard descriptors. Open /dev/null in their place in the wrong direction,
 * so that reads and writes fail, and output is not lost silently. */
static bool fill_standard_descriptors(void)
{
    static const int wrong_way[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", wrong_way[fd]) != fd) // NOLINT: programs that we start get it
            return false;
    return true;
}

/* A stack that cannot grow kills a process without a message. The kernel checks the limit at each page
 * that is added, so it can still be raised. */
static bool have_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK)
        return true;
    limit.rlim_cur = STACK;
    if (limit.rlim_max < STACK)
        limit.rlim_max = STACK; /* only root may raise a hard limit */
    return setrlimit(RLIMIT_STACK, &limit) == 0;
}

int hc_program_begin(void)
{
    if (!fill_standard_descriptors()) {
        hc_warn("a standard descriptor is closed, and /dev/null could not be opened in its place: %s",
                strerror(errno));
        return HC_EXIT_INTERNAL;
    }
    if (!have_stack()) {
        hc_warn(
            "the limit of the stack (RLIMIT_STACK, \"ulimit -s\") is too low: at least 1024 KiB are needed");
        return HC_EXIT_INTERNAL;
    }
    return HC_EXIT_OK;
}

int hc_program_end(int status)
{
    bool lost = ferror(stdout) != 0;
    lost |= fclose(stdout) != 0;
    if (lost)
        hc_warn("standard output could not be written");
    return lost && status == HC_EXIT_OK ? HC_EXIT_INTERNAL : status;
}
