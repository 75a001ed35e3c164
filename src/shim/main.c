/* hotcell-shim - what runs inside a cell.
 *
 * Processes. The launcher executes the shim as pid 1 of a fresh pid namespace. It forks at once, long before
 * there is an interpreter: pid 1 reaps and keeps (init.c), pid 2 embeds CPython and runs the guest's program
 * (guest.c). Nothing else runs unless the guest starts it, or it is a session, in which
 * copies of the interpreter wait (session.c). In a zygote pid 2 imports what its policy names, runs no guest
 * code, and makes cells of copies of itself (zygote.c), each with a pid 1 and a pid 2 of its own.
 *
 * Rights. None by the time main is entered: an ordinary uid, no capabilities, no_new_privs, Landlock and the
 * launcher's first system call filter are on. pid 2 adds the job's own filter before it reads the program.
 * The shim holds no secret and decides nothing that the launcher relies on: it is the guest's process, and
 * after HC_FRAME_RUN the launcher takes every byte from it as the guest's word.
 *
 * Channels (wire/handover.h). 0 is the cell's own /dev/null or a pipe, 1 and 2 are pipes, 3 carries frames to
 * the launcher and belongs to pid 2, 4 is the sealed handover which pid 2 reads and closes, 5 is pid 1's: how
 * pid 2 ended goes out on it, and its hang-up ends the cell. The shim opens no other descriptor for itself
 * and writes no log: a line on 2 and exit status 70 is how it fails. */
#include "inside/plan.h"
#include "shim/guest.h"
#include "shim/init.h"
#include "wire/handover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    /* Before the fork, so that there is no moment in which pid 2 could look into pid 1. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "hotcell-init");
    /* A zygote executes this program as pid 1 where it cannot execute an image in memory (init_image.c). Then
     * SIGCHLD is blocked already, and the child exists. */
    if (argc > 2 && strcmp(argv[1], HC_SHIM_INIT) == 0)
        hc_init_run((pid_t)strtol(argv[2], NULL, 10), HC_FD_STATUS, HC_FD_SYNC,
                    argc > 3 && strcmp(argv[3], HC_SHIM_SESSION) == 0);

    sigset_t chld, before;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &before);

    pid_t parent = getpid();
    pid_t guest = fork();
    if (guest < 0) {
        perror("hotcell-shim: fork");
        return HC_EXIT_INTERNAL;
    }
    if (guest > 0)
        hc_init_run(guest, HC_FD_STATUS, -1, argc > 1 && strcmp(argv[1], HC_SHIM_SESSION) == 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(HC_FD_STATUS);
    hc_guest_run(parent);
}
