/* Check the program of a run. The interpreter itself checks the program of the first run, as for a job. Once
 * it was given a program, it may be under that program's control, for example of threads that a run left.
 * So a copy of the interpreter from before the first run is kept, the checker, which checks each later
 * program first.
 *
 * No other process can speak for the checker: while it checks, all other processes of the cell are
 * stopped, packets that they sent before are dropped, and the kernel names the sender of each packet: only
 * packets of the checker count, or of a process that did not exist before the checker was told to make
 * one. No process can reach it either: the filters refuse to signal, trace or write to other processes.
 * The checker ends with the check: before it reads a program, it makes a copy of itself, which is the
 * checker from then on. */
#include "cell/session/session_parts.h"

#include "cell/supervise/control.h"

/* Make s->copy the active process, have it make a copy of itself and check the program. 1: it cannot take
 * over. */
static int check_in_copy(struct hc_session *s, const struct hc_job *job, struct hc_error *err)
{
    struct hc_job only = *job; /* its pointers are borrowed from `job` */
    only.check_only = true;
    if (!hc_session_take_over(s))
        return 1;
    hc_session_listen(s, HC_TALK_CHECKING, HC_ASKED_COPY);
    if (hc_session_make_copy(s, &only, err) < 0)
        return -1;
    if (hc_session_run_ended(s) || s->loop.dead)
        return 0;
    if (hc_session_supervise(s, err) < 0)
        return -1;
    if (s->launch.sup.exit_known)
        hc_session_read_last_packets(s);
    hc_session_cpu(s, HC_CPU_ALONE, &s->checked_user_us, &s->checked_system_us);
    s->checked_user_us -= s->cpu_user_us;
    s->checked_system_us -= s->cpu_system_us;
    return 0;
}

/* Return the next checker. If no process can be it, its pid is 0. */
static struct hc_process take_next(struct hc_session *s)
{
    struct hc_process *next = &s->copy;
    if (hc_inbox_has(&s->launch.sup.inbox,
                     HC_FRAME_UNKEPT)) { /* the checker made no copy, and waits for its next program itself */
        next = &s->active;
        next->serving = true;
        if (!hc_process_stop(next))
            hc_process_finish(next);
    }
    struct hc_process taken = *next;
    *next = (struct hc_process){.pidfd = -1};
    return taken;
}

int hc_session_check(struct hc_session *s, const struct hc_job *job, bool *passed, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_process *checker = s->checker.pid ? &s->checker : &s->before.process;
    *passed = !s->active.touched;
    if (*passed)
        return 0;
    if (!checker->pid || checker->touched)
        return 1;
    hc_control_drop(&s->loop);
    hc_process_set_oom_score(&s->active, false); /* the session's process only waits during the check */
    s->waiting_active = s->active;
    s->copy = *checker;
    s->active = (struct hc_process){.pidfd = -1};
    *checker = (struct hc_process){.pidfd = -1};
    int rc = check_in_copy(s, job, err);
    *passed = rc == 0 && sup->end == HC_END_NONE && hc_inbox_has(&sup->inbox, HC_FRAME_PASSED);
    *checker = take_next(s);
    hc_process_kill(&s->active);
    s->active = s->waiting_active;
    s->waiting_active = (struct hc_process){.pidfd = -1};
    hc_process_set_oom_score(&s->active, true);
    hc_session_activate(s);
    return rc;
}
