#include "shim/init_image.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const unsigned char image[] = {
#include "init.inc"
};

/* The zygote writes it to a file, under limits.file_size. */
_Static_assert(sizeof image <= 4096, "no policy's files are smaller");

/* Tries to execute the image, as a host may forbid it by one of several rules. */
static bool can_be_executed(int fd)
{
    siginfo_t end = {0};
    pid_t pid = fork();
    if (pid == 0) {
        char name[] = "hotcell-init";
        char *const argv[] = {name, NULL}, *const env[] = {NULL};
        (void)syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
        _exit(HC_EXIT_UNAVAILABLE);
    }
    return pid > 0 && TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)pid, &end, WEXITED)) == 0 &&
           end.si_code == CLD_EXITED && end.si_status == HC_EXIT_OK;
}

int hc_init_image(struct hc_error *err)
{
    struct hc_error ignored;
    hc_autofd fd = hc_sealed_program("hotcell-init", image, sizeof image, &ignored);
    if (fd >= 0 && can_be_executed(fd))
        return hc_take(&fd);
    int shim = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    return shim >= 0 ? shim : hc_fail(err, errno, "open the shim");
}
