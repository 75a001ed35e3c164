/* Copies that a client asks for: checkpoints, branches of which one is kept, and contexts, which are
 * interpreters side by side, one of which is active. */
#include "cell/session/session_parts.h"

#include "job/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct hc_saved_copy *find_saved(struct hc_session *s, const char *name, bool context)
{
    for (size_t i = 0; i < HC_SESSION_COPIES; i++) {
        struct hc_saved_copy *saved = &s->checkpoints[i];
        if (saved->process.pid && saved->is_context == context && strcmp(saved->name, name) == 0)
            return saved;
    }
    return NULL;
}

static struct hc_saved_copy *find_checkpoint(struct hc_session *s, const char *name)
{
    return find_saved(s, name, false);
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
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "there are %d checkpoints and contexts already; give the name of a checkpoint",
                          HC_SESSION_COPIES);
    struct hc_process made;
    if (copy_state(s, &made, err) < 0)
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

/* ---- contexts ---- */

/* Put the active interpreter away, with the name of its context, into `rest`, and make `next` the active one.
 * Its state is not copied: both are stopped, and go on where they were. */
static int swap_active(struct hc_session *s, struct hc_saved_copy next, const char *name,
                       struct hc_saved_copy *rest, struct hc_error *err)
{
    struct hc_saved_copy old = {.process = s->active, .run_number = s->run_number, .is_context = true};
    (void)snprintf(old.name, sizeof old.name, "%s", s->context);
    hc_process_retire(s, &s->before.process);
    s->active = (struct hc_process){.pidfd = -1};
    s->copy = next.process;
    const bool took = hc_session_take_over(s);
    if (s->loop.dead) {
        *rest = old;
        return fail_lost(s, err);
    }
    if (!took) {
        hc_process_kill(&s->active);
        s->active = old.process;
        hc_session_activate(s);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the interpreter of '%.72s' has ended, and its state is gone",
                          name);
    }
    hc_process_set_oom_score(&old.process, false);
    old.process.serving = true;
    *rest = old;
    (void)snprintf(s->context, sizeof s->context, "%s", name);
    s->run_number = next.run_number;
    return 0;
}

/* Take an entry out of the list. */
static struct hc_saved_copy take_saved(struct hc_saved_copy *saved)
{
    const struct hc_saved_copy taken = *saved;
    *saved = (struct hc_saved_copy){.process = {.pidfd = -1}};
    return taken;
}

static int refuse_swap(const struct hc_session *s, struct hc_error *err)
{
    if (refuse_open_branches(s, err) < 0)
        return -1;
    return hc_process_ended(&s->active)
               ? hc_fail_as(err, HC_EXIT_DATA, 0,
                            "the interpreter of the context '%.72s' has ended, as its "
                            "next run tells; until then no other context runs",
                            s->context)
               : 0;
}

int hc_session_enter_context(struct hc_session *s, const char *name, struct hc_error *err)
{
    if (strcmp(name, s->context) == 0)
        return 0;
    struct hc_saved_copy *at = find_saved(s, name, true);
    if (!at) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "there is no context '%.72s'", name);
        err->sys = ENOENT;
        return -1;
    }
    return refuse_swap(s, err) < 0 ? -1 : swap_active(s, take_saved(at), name, at, err);
}

/* The checkpoint of which a context was to be made has become active, and could not be copied: go back. */
static int undo_context(struct hc_session *s, struct hc_saved_copy *point, struct hc_saved_copy *rest)
{
    struct hc_error ignored;
    struct hc_saved_copy left;
    const struct hc_saved_copy before = take_saved(rest);
    if (s->over || swap_active(s, before, before.name, &left, &ignored) < 0) {
        *rest = before;
        return -1;
    }
    left.is_context = false;
    memcpy(left.name, point->name, sizeof left.name);
    *point = left;
    return -1;
}

int hc_session_new_context(struct hc_session *s, const char *name, const char *from, struct hc_error *err)
{
    if (hc_job_check_id(name, err) < 0 || refuse_swap(s, err) < 0)
        return -1;
    if (strcmp(name, s->context) == 0 || find_saved(s, name, true))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is a context '%.72s' already", name);
    struct hc_saved_copy *point = find_checkpoint(s, from), *rest = find_free_checkpoint(s);
    if (!point)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no checkpoint '%.72s'", from);
    if (!rest)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there are %d checkpoints and contexts already",
                          HC_SESSION_COPIES);
    struct hc_saved_copy next = *point;
    point->process = (struct hc_process){.pidfd = -1};
    if (swap_active(s, next, name, rest, err) < 0)
        return -1;
    return copy_state(s, &point->process, err) < 0 ? undo_context(s, point, rest) : 0;
}

int hc_session_end_context(struct hc_session *s, const char *name, struct hc_error *err)
{
    if (!*name)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the first context ends with the session");
    if (strcmp(name, s->context) == 0 && hc_session_enter_context(s, "", err) < 0)
        return -1;
    struct hc_saved_copy *at = find_saved(s, name, true);
    if (at) {
        hc_process_end(&at->process); /* else there may be no room yet for what the client does next */
        *at = (struct hc_saved_copy){.process = {.pidfd = -1}};
        return 0;
    }
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "there is no context '%.72s'", name);
    err->sys = ENOENT;
    return -1;
}
