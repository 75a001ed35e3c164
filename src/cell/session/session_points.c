/* Copies that a client asks for: checkpoints, and branches of which one is kept. */
#include "cell/session/session_parts.h"

#include "job/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct hc_saved_copy *find_checkpoint(struct hc_session *s, const char *name)
{
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        if (s->checkpoints[i].process.pid && strcmp(s->checkpoints[i].name, name) == 0)
            return &s->checkpoints[i];
    return NULL;
}

static struct hc_saved_copy *find_free_checkpoint(struct hc_session *s)
{
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        if (!s->checkpoints[i].process.pid)
            return &s->checkpoints[i];
    return NULL;
}

void hc_session_drop_points(struct hc_session *s)
{
    hc_process_kill(&s->before.process);
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        hc_process_kill(&s->checkpoints[i].process);
    for (size_t i = 0; i < s->branch_count; i++)
        hc_process_kill(&s->branches[i].process);
    s->branch_count = 0;
}

/* Fail because the state is lost. The guest or a process of the host has caused that, not hotcell. */
static int fail_lost(struct hc_session *s, struct hc_error *err)
{
    s->over = true;
    return hc_fail_as(err, HC_EXIT_LIMIT, 0, "the session's state is lost: no copy could take over");
}

static bool is_settled(const struct hc_session *s)
{
    return s->launch.sup.resumed_sender || s->launch.sup.exit_known;
}

/* Have the interpreter wait for its next run after it has made a copy. */
static int let_wait(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    const bool ended =
        sup->exit_known; /* the process ended by a cancellation during the copy, which is reported once */
    hc_session_listen(s, HC_TALK_IDLE, HC_ASKED_RESUME);
    sup->exit_known = ended;
    if (hc_session_let_begin(s, err) < 0 || hc_session_handle_within(s, HC_COPY_MS, is_settled, err) < 0)
        return -1;
    return hc_process_stop(&s->active) && sup->resumed_sender == s->active.pid ? 0 : -1;
}

/* The process ended while a copy of it was made. The next run reports that, and goes back to the copy, if
 * there is one, or else to the state before the last run. */
static int note_end(struct hc_session *s, struct hc_error *err)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    s->active.end = sup->exit;
    if (s->copy.pid)
        s->before = (struct hc_saved_copy){.process = s->copy, .run_number = s->run_number};
    s->copy = (struct hc_process){.pidfd = -1};
    if (sup->protocol[0])
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "no copy could be made: the guest's process broke the protocol: %.200s",
                          sup->protocol);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "no copy could be made: the session's process ended (%s %d)",
                      sup->exit.code == CLD_EXITED ? "exit status" : "signal", sup->exit.status);
}

/* Make a copy of the current state outside a run. */
static int copy_state(struct hc_session *s, struct hc_process *out, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (hc_process_ended(&s->active)) /* the next run reports how it ended */
        return hc_fail_as(err, HC_EXIT_DATA, 0, "no copy could be made: the session's process has ended");
    hc_session_reset(s, s->m, &s->policy);
    hc_session_listen(s, HC_TALK_IDLE, HC_ASKED_COPY);
    if (hc_session_open_pipes(s, err) < 0 || hc_session_make_copy(s, &s->job, err) < 0) {
        s->over = true;
        return -1;
    }
    bool made = s->copy.pid != 0;
    if (made)
        hc_process_retire(s, &s->before.process);
    bool settled = !made || let_wait(s, err) == 0;
    (void)hc_session_kill_unknown(
        s); /* else processes that misused the forks would run until the end of the next run */
    hc_session_close_pipes(s);
    if (s->loop.dead || sup->end == HC_END_CANCELLED)
        return fail_lost(s, err);
    if (hc_session_stop_active(s, err) < 0 || (!settled && !sup->exit_known)) {
        s->over = true;
        return -1;
    }
    if (sup->exit_known)
        return note_end(s, err);
    if (!made)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "no copy could be made: the session's process made none, as where there is no room "
                          "for one more (limits.pids, limits.memory)");
    *out = s->copy;
    s->copy = (struct hc_process){.pidfd = -1};
    return 0;
}

/* Make `from` the active process, and put a copy of it in its place. */
static int resume_from(struct hc_session *s, struct hc_saved_copy *from, struct hc_error *err)
{
    s->copy = from->process;
    from->process = (struct hc_process){.pidfd = -1};
    if (!hc_session_take_over(s))
        return fail_lost(s, err);
    s->run_number = from->run_number;
    return copy_state(s, &from->process, err);
}

static int refuse_open_branches(const struct hc_session *s, struct hc_error *err)
{
    return s->branch_count ? hc_fail_as(err, HC_EXIT_DATA, 0, "branches are open: keep one of them first")
                           : 0;
}

int hc_session_checkpoint(struct hc_session *s, const char *name, struct hc_error *err)
{
    if (refuse_open_branches(s, err) < 0 || hc_job_check_id(name, err) < 0)
        return -1;
    struct hc_saved_copy *point = find_checkpoint(s, name);
    if (!point)
        point = find_free_checkpoint(s);
    if (!point)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there are %d checkpoints already; give one of their names",
                          HC_SESSION_COPIES);
    struct hc_process made;
    if (copy_state(s, &made, err) < 0)
        return -1;
    hc_process_kill(&point->process);
    (void)snprintf(point->name, sizeof point->name, "%s", name);
    point->process = made;
    point->run_number = s->run_number;
    return 0;
}

int hc_session_rollback(struct hc_session *s, const char *name, struct hc_error *err)
{
    struct hc_saved_copy *point = find_checkpoint(s, name);
    if (refuse_open_branches(s, err) < 0)
        return -1;
    if (!point)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no checkpoint '%.72s'", name);
    hc_process_kill(&s->active);
    return resume_from(s, point, err);
}

int hc_session_branch(struct hc_session *s, struct hc_error *err)
{
    struct hc_saved_copy *base = &s->branches[0];
    if (s->branch_count == 0) {
        *base = (struct hc_saved_copy){.process = {.pidfd = -1}, .run_number = s->run_number};
        if (copy_state(s, &base->process, err) < 0)
            return -1;
        s->branch_count = 1;
        return 0;
    }
    if (s->branch_count >= HC_SESSION_BRANCHES)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected at most %d branches", HC_SESSION_BRANCHES);
    s->branches[s->branch_count++] =
        (struct hc_saved_copy){.process = s->active, .run_number = s->run_number};
    s->active = (struct hc_process){.pidfd = -1};
    return resume_from(s, base, err);
}

int hc_session_keep(struct hc_session *s, size_t branch, struct hc_error *err)
{
    if (s->branch_count == 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there are no branches to keep one of");
    if (branch > s->branch_count)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected the number of a branch, from 1 to %zu, or 0",
                          s->branch_count);
    size_t last = s->branch_count; /* the last branch is the active process, which is not in the list */
    struct hc_saved_copy chosen =
        branch == last ? (struct hc_saved_copy){.process = s->active, .run_number = s->run_number}
                       : s->branches[branch];
    if (branch != last) {
        hc_process_kill(&s->active);
        s->branches[branch].process = (struct hc_process){.pidfd = -1};
    }
    for (size_t i = 0; i < last; i++)
        hc_process_retire(s, &s->branches[i].process);
    hc_process_retire(s, &s->before.process);
    s->branch_count = 0;
    s->run_number = chosen.run_number;
    if (branch == 0) {
        s->copy = chosen.process;
        return hc_session_take_over(s) ? 0 : fail_lost(s, err);
    }
    s->active = chosen.process;
    hc_session_activate(s);
    return 0;
}

size_t hc_session_branches(const struct hc_session *s)
{
    return s->branch_count;
}

int hc_session_state_of(const struct hc_session *s)
{
    return s->run_number;
}
