/* Check the program of a run. The interpreter itself checks the program of the first run, as for a job. Once
 * it was given a program, it may be under that program's control, for example of threads that a run left.
 * So a copy of the interpreter from before the first run is kept, the checker, which checks each later
 * program first.
 *
 * No other process can speak for the checker: while it checks, all other processes of the cell are
 * stopped, packets that they sent before are dropped, and the kernel names the sender of each packet: only
 * packets of the checker count, or of a process that did not exist before the checker was told to make
 * one. No process can reach it either: the filters refuse to signal, trace or write to other processes.
 *
 * Before it reads a program, the checker makes a copy of itself, which is the checker from then on. To read a
 * program runs nothing of it, and leaves nothing that the next check would see; so the process that has
 * checked one stays, as the reader, and checks the next without another copy, which would cost as much as the
 * whole run. Long programs and inputs, which libraries load, would leave it larger: these are for a process
 * that ends with the check. If the reader ends, the checker makes the next. */
#include "cell/session/session_parts.h"

#include "cell/supervise/control.h"

#include <string.h>

#define LONGEST_READ ((size_t)64 << 10) /* most bytes of a program that the reader checks */
#define ROOM_TO_STAY 16 /* least limits.pids with which a process more stays between the runs */

static struct hc_process take(struct hc_process *p)
{
    const struct hc_process taken = *p;
    *p = (struct hc_process){.pidfd = -1};
    return taken;
}

/* Which process is to check the job's program. */
static enum hc_checker choose(struct hc_session *s, const struct hc_job *job)
{
    if (job->given || (job->code && strlen(job->code) > LONGEST_READ) || s->crowded ||
        s->policy.limits.pids < ROOM_TO_STAY)
        return HC_CHECKER_ENDS;
    if (s->reader.pid && hc_process_ended(&s->reader))
        hc_process_finish(&s->reader);
    return s->reader.pid ? HC_CHECKER_AGAIN : HC_CHECKER_STAYS;
}

/* Make s->copy the active process, and have it check the program, and first make a copy of itself unless it
 * has done so. 1: it cannot take over. */
static int check_in_copy(struct hc_session *s, const struct hc_job *job, enum hc_checker checker,
                         struct hc_error *err)
{
    struct hc_job only = *job; /* its pointers are borrowed from `job` */
    only.check_only = true;
    only.vars_text = NULL; /* a check binds none, and long ones would leave the reader larger */
    only.checker = checker;
    if (!hc_session_take_over(s))
        return 1;
    const bool again = checker == HC_CHECKER_AGAIN;
    hc_session_listen(s, HC_TALK_CHECKING, again ? 0 : HC_ASKED_COPY);
    if ((again ? hc_session_order(s, &only, err) : hc_session_make_copy(s, &only, err)) < 0)
        return -1;
    if (hc_session_run_ended(s) || s->loop.dead)
        return 0;
    if (again)
        hc_process_set_oom_score(&s->active, true);
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
    if (!hc_inbox_has(&s->launch.sup.inbox, HC_FRAME_UNKEPT))
        return take(&s->copy);
    /* The checker made no copy, and waits for its next program itself. */
    s->active.serving = true;
    if (!hc_process_stop(&s->active))
        hc_process_finish(&s->active);
    return take(&s->active);
}

/* Keep the process that has checked the program as the reader, if it has told what it found. */
static void keep_reader(struct hc_session *s)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    const bool told = sup->inbox.state == HC_TALK_OVER && sup->end == HC_END_NONE && !sup->exit_known;
    if (!told || !hc_process_stop(&s->active) || hc_process_ended(&s->active))
        return;
    hc_process_set_oom_score(&s->active, false);
    s->reader = take(&s->active);
}

bool hc_session_end_reader(struct hc_session *s)
{
    if (!s->reader.pid)
        return false;
    hc_process_end(&s->reader);
    s->crowded = true;
    return true;
}

/* Have the process check the program in the place of the active one. 1: it cannot take over. */
static int check_by(struct hc_session *s, struct hc_process *checker, enum hc_checker kind,
                    const struct hc_job *job, struct hc_error *err)
{
    hc_control_drop(&s->loop);
    hc_process_set_oom_score(&s->active, false); /* the session's process only waits during the check */
    s->waiting_active = s->active;
    s->copy = take(checker);
    s->active = (struct hc_process){.pidfd = -1};
    int rc = check_in_copy(s, job, kind, err);
    if (kind != HC_CHECKER_AGAIN)
        *checker = take_next(s);
    if (kind != HC_CHECKER_ENDS && rc == 0)
        keep_reader(s);
    hc_process_end(&s->active); /* else there may be no room yet for the next copy */
    s->active = take(&s->waiting_active);
    hc_process_set_oom_score(&s->active, true);
    hc_session_activate(s);
    return rc;
}

int hc_session_check(struct hc_session *s, const struct hc_job *job, bool *passed, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    *passed = !s->active.touched;
    if (*passed)
        return 0;
    enum hc_checker kind = choose(s, job);
    int rc = kind == HC_CHECKER_AGAIN ? check_by(s, &s->reader, kind, job, err) : 1;
    if (rc == 1 && !s->loop.dead) { /* there is no reader, or it has ended meanwhile */
        kind = kind == HC_CHECKER_AGAIN ? HC_CHECKER_STAYS : kind;
        struct hc_process *checker = s->checker.pid ? &s->checker : &s->before.process;
        if (!checker->pid || checker->touched)
            return 1;
        rc = check_by(s, checker, kind, job, err);
    }
    *passed = rc == 0 && sup->end == HC_END_NONE && hc_inbox_has(&sup->inbox, HC_FRAME_PASSED);
    return rc;
}
