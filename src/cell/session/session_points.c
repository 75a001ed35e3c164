/* Copies that a client asks for: checkpoints, and branches of which one is kept. */
#include "cell/session/session_parts.h"

#include "job/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct hc_saved_copy *hc_session_saved(struct hc_session *s, const char *name, bool context)
{
    for (size_t i = 0; i < HC_SESSION_COPIES; i++) {
        struct hc_saved_copy *saved = &s->checkpoints[i];
        if (saved->process.pid && saved->is_context == context && strcmp(saved->name, name) == 0)
            return saved;
    }
    return NULL;
}

struct hc_saved_copy *hc_session_free_place(struct hc_session *s)
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

int hc_session_lose(struct hc_session *s, struct hc_error *err)
{
    s->over = true;
    return hc_fail_as(err, HC_EXIT_LIMIT, 0, "the session's state is lost: no copy could take over");
}

bool hc_session_strayed(const struct hc_session *s)
{
    const struct hc_inbox *in = &s->launch.sup.inbox;
    return in->first == HC_TALK_IDLE && hc_inbox_has(in, HC_FRAME_UNKEPT);
}

static bool is_settled(const struct hc_session *s)
{
    return s->launch.sup.resumed_sender || s->launch.sup.exit_known || hc_session_strayed(s);
}

/* Have the interpreter wait for its next run after it has made a copy. `moves`: it enters a directory first,
 * or says that it cannot. */
static int let_wait(struct hc_session *s, bool moves, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    const bool ended =
        sup->exit_known; /* the process ended by a cancellation during the copy, which is reported once */
    hc_session_listen(s, HC_TALK_IDLE, HC_ASKED_RESUME | (moves ? HC_ASKED_COPY : 0));
    sup->exit_known = ended;
    if (hc_session_let_begin(s, err) < 0 || hc_session_handle_within(s, HC_COPY_MS, is_settled, err) < 0)
        return -1;
    return hc_process_stop(&s->active) && (sup->resumed_sender == s->active.pid || hc_session_strayed(s))
               ? 0
               : -1;
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

/* As hc_session_copy, once. 1: there was no room for a copy. */
static int try_copy(struct hc_session *s, char *workdir, struct hc_process *out, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_job order = s->job; /* members borrowed */
    order.moves = workdir != NULL;
    order.workdir = workdir;
    if (hc_process_ended(&s->active)) /* the next run reports how it ended */
        return hc_fail_as(err, HC_EXIT_DATA, 0, "no copy could be made: the session's process has ended");
    hc_session_reset(s, s->m, &s->policy);
    hc_session_listen(s, HC_TALK_IDLE, HC_ASKED_COPY);
    if (hc_session_open_pipes(s, err) < 0 || hc_session_make_copy(s, &order, err) < 0) {
        s->over = true;
        return -1;
    }
    bool made = s->copy.pid != 0;
    if (made)
        hc_process_retire(s, &s->before.process);
    bool settled = !made || let_wait(s, order.moves, err) == 0;
    (void)hc_session_kill_unknown(
        s); /* else processes that misused the forks would run until the end of the next run */
    hc_session_close_pipes(s);
    if (s->loop.dead || sup->end == HC_END_CANCELLED)
        return hc_session_lose(s, err);
    if (hc_session_stop_active(s, err) < 0 || (!settled && !sup->exit_known)) {
        s->over = true;
        return -1;
    }
    if (sup->exit_known)
        return note_end(s, err);
    if (!made)
        return 1;
    *out = s->copy;
    s->copy = (struct hc_process){.pidfd = -1};
    return 0;
}

int hc_session_copy(struct hc_session *s, char *workdir, struct hc_process *out, struct hc_error *err)
{
    int rc = try_copy(s, workdir, out, err);
    if (rc > 0 && hc_session_end_reader(s))
        rc = try_copy(s, workdir, out, err);
    return rc > 0 ? hc_fail_as(err, HC_EXIT_DATA, 0,
                               "no copy could be made: the session's process made none, as where there is no "
                               "room for one more (limits.pids, limits.memory)")
                  : rc;
}

int hc_session_resume(struct hc_session *s, struct hc_saved_copy *from, char *workdir, struct hc_error *err)
{
    s->copy = from->process;
    from->process = (struct hc_process){.pidfd = -1};
    if (!hc_session_take_over(s))
        return hc_session_lose(s, err);
    s->run_number = from->run_number;
    return hc_session_copy(s, workdir, &from->process, err);
}

int hc_session_unbranched(const struct hc_session *s, struct hc_error *err)
{
    return s->branch_count ? hc_fail_as(err, HC_EXIT_DATA, 0, "branches are open: keep one of them first")
                           : 0;
}

int hc_session_checkpoint(struct hc_session *s, const char *name, struct hc_error *err)
{
    if (hc_session_unbranched(s, err) < 0 || hc_job_check_id(name, err) < 0)
        return -1;
    struct hc_saved_copy *point = hc_session_saved(s, name, false);
    if (!point)
        point = hc_session_free_place(s);
    if (!point)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "there are %d checkpoints and contexts at rest already; give the name of a checkpoint",
            HC_SESSION_COPIES);
    struct hc_process made;
    if (hc_session_copy(s, NULL, &made, err) < 0)
        return -1;
    hc_process_kill(&point->process);
    (void)snprintf(point->name, sizeof point->name, "%s", name);
    point->is_context = false;
    point->process = made;
    point->run_number = s->run_number;
    return 0;
}

int hc_session_rollback(struct hc_session *s, const char *name, struct hc_error *err)
{
    struct hc_saved_copy *point = hc_session_saved(s, name, false);
    if (hc_session_unbranched(s, err) < 0)
        return -1;
    if (!point)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no checkpoint '%.72s'", name);
    if (hc_process_ended(&point->process)) {
        hc_process_finish(&point->process);
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "the process of the checkpoint '%.72s' has ended, and its state is gone", name);
    }
    hc_process_end(&s->active); /* else there may be no room yet for the copy */
    return hc_session_resume(s, point, NULL, err);
}

int hc_session_branch(struct hc_session *s, struct hc_error *err)
{
    struct hc_saved_copy *base = &s->branches[0];
    if (s->branch_count == 0) {
        *base = (struct hc_saved_copy){.process = {.pidfd = -1}, .run_number = s->run_number};
        if (hc_session_copy(s, NULL, &base->process, err) < 0)
            return -1;
        s->branch_count = 1;
        return 0;
    }
    if (s->branch_count >= HC_SESSION_BRANCHES)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected at most %d branches", HC_SESSION_BRANCHES);
    s->branches[s->branch_count++] =
        (struct hc_saved_copy){.process = s->active, .run_number = s->run_number};
    s->active = (struct hc_process){.pidfd = -1};
    return hc_session_resume(s, base, NULL, err);
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
        return hc_session_take_over(s) ? 0 : hc_session_lose(s, err);
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
