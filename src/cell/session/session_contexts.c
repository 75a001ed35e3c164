/* Contexts: interpreters of one session side by side, one of which is active. The others rest: they are
 * stopped, and go on where they were. A new one is a copy of a checkpoint, or of the interpreter as it was
 * before the session's first program: of the checker (session_check.c), which never was given a program. */
#include "cell/session/session_parts.h"

#include "job/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hc_context *find(struct hc_session *s, const char *name)
{
    for (size_t i = 0; i < s->context_count; i++)
        if (strcmp(s->contexts[i].name, name) == 0)
            return &s->contexts[i];
    return NULL;
}

static int fail_missing(const char *name, struct hc_error *err)
{
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "there is no context '%.72s'", name);
    err->sys = ENOENT; /* the text needs no words of the errno */
    return -1;
}

/* Take an entry out of the list of copies. */
static struct hc_saved_copy take_saved(struct hc_saved_copy *saved)
{
    const struct hc_saved_copy taken = *saved;
    *saved = (struct hc_saved_copy){.process = {.pidfd = -1}};
    return taken;
}

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
        return hc_session_lose(s, err);
    }
    if (!took) {
        hc_process_kill(&s->active);
        s->active = old.process;
        hc_session_activate(s);
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "the interpreter of '%.72s' has ended, and its state is gone: restart the context",
                          name);
    }
    hc_process_set_oom_score(&old.process, false);
    old.process.serving = true;
    *rest = old;
    (void)snprintf(s->context, sizeof s->context, "%s", name);
    s->run_number = next.run_number;
    return 0;
}

static int refuse_swap(const struct hc_session *s, struct hc_error *err)
{
    if (hc_session_unbranched(s, err) < 0)
        return -1;
    return hc_process_ended(&s->active)
               ? hc_fail_as(err, HC_EXIT_DATA, 0,
                            "the interpreter of the context '%.72s' has ended, as its next run tells; until "
                            "then, or until it is restarted, no other context runs",
                            s->context)
               : 0;
}

int hc_session_enter_context(struct hc_session *s, const char *name, struct hc_error *err)
{
    if (!find(s, name))
        return fail_missing(name, err);
    if (strcmp(name, s->context) == 0)
        return 0;
    if (refuse_swap(s, err) < 0)
        return -1;
    struct hc_saved_copy *at = hc_session_saved(s, name, true);
    if (!at)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the context '%.72s' has no interpreter any more: restart it",
                          name);
    return swap_active(s, take_saved(at), name, at, err);
}

/* Take the interpreter as it was before the first program: the checker, or a copy of the active one, which
 * then was given no program yet. It is given back by hc_process_retire. */
static int take_start(struct hc_session *s, struct hc_saved_copy *start, struct hc_error *err)
{
    *start = (struct hc_saved_copy){.process = {.pidfd = -1}};
    hc_process_retire(s, &s->before.process);
    if (s->checker.pid && hc_process_ended(&s->checker))
        hc_process_finish(&s->checker);
    if (s->checker.pid) {
        start->process = s->checker;
        s->checker = (struct hc_process){.pidfd = -1};
        return 0;
    }
    if (!s->active.touched)
        return hc_session_copy(s, NULL, &start->process, err);
    return hc_fail_as(err, HC_EXIT_DATA, 0,
                      "no copy is left of the interpreter as it was at the start: give the name of a "
                      "checkpoint");
}

/* Go back to the interpreter in `rest`, and drop the active one, or put it back into `point`. */
static void go_back(struct hc_session *s, struct hc_saved_copy *point, struct hc_saved_copy *rest)
{
    struct hc_error ignored;
    struct hc_saved_copy left;
    const struct hc_saved_copy before = take_saved(rest);
    if (!s->over && !point->process.pid && s->before.process.pid && hc_process_ended(&s->active)) {
        point->process = s->before.process; /* it has ended while it was copied, and its copy has not */
        s->before.process = (struct hc_process){.pidfd = -1};
    }
    if (s->over || swap_active(s, before, before.name, &left, &ignored) < 0) {
        *rest = before;
        return;
    }
    if (point->process.pid || hc_process_ended(&left.process)) {
        hc_process_end(&left.process);
        return;
    }
    left.is_context = false;
    memcpy(left.name, point->name, sizeof left.name);
    *point = left;
}

/* Begin an interpreter of this name as a copy of `point`, and put the active one into `rest`. */
static int begin_from(struct hc_session *s, struct hc_saved_copy *point, const char *name, char *workdir,
                      struct hc_saved_copy *rest, struct hc_error *err)
{
    const struct hc_saved_copy next = *point;
    point->process = (struct hc_process){.pidfd = -1};
    if (swap_active(s, next, name, rest, err) < 0)
        return -1;
    int rc = hc_session_copy(s, workdir, &point->process, err);
    if (rc == 0 && workdir && hc_session_strayed(s))
        rc = hc_fail_as(err, HC_EXIT_DATA, 0, "workdir: '%.200s' is no directory that the context can enter",
                        workdir);
    if (rc < 0)
        go_back(s, point, rest);
    return rc;
}

/* `from`: the name of a checkpoint; NULL: the start. */
static int begin(struct hc_session *s, const char *name, const char *from, char *workdir,
                 struct hc_error *err)
{
    struct hc_saved_copy start;
    struct hc_saved_copy *point = from ? hc_session_saved(s, from, false) : NULL;
    struct hc_saved_copy *rest = hc_session_free_place(s);
    if (from && !point)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no checkpoint '%.72s'", from);
    if (!rest)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there are %d checkpoints and contexts at rest already",
                          HC_SESSION_COPIES);
    if (point)
        return begin_from(s, point, name, workdir, rest, err);
    if (take_start(s, &start, err) < 0)
        return -1;
    const int rc = begin_from(s, &start, name, workdir, rest, err);
    hc_process_retire(s, &start.process);
    return rc;
}

/* Note a context without an interpreter. */
static struct hc_context *add(struct hc_session *s, const char *name, const char *workdir)
{
    struct hc_context *added = &s->contexts[s->context_count];
    *added = (struct hc_context){.workdir = workdir ? strdup(workdir) : NULL};
    if (workdir && !added->workdir)
        return NULL;
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    s->context_count++;
    return added;
}

static void forget(struct hc_session *s, struct hc_context *context)
{
    free(context->workdir);
    s->context_count--;
    for (; context < s->contexts + s->context_count; context++)
        *context = context[1];
}

int hc_session_first_context(struct hc_session *s, struct hc_error *err)
{
    (void)snprintf(s->context, sizeof s->context, "%s", HC_CONTEXT_MAIN);
    return add(s, HC_CONTEXT_MAIN, NULL) ? 0 : hc_fail(err, ENOMEM, "session");
}

void hc_session_forget_contexts(struct hc_session *s)
{
    while (s->context_count)
        forget(s, &s->contexts[s->context_count - 1]);
}

/* Name a context whose client has not. */
static const char *next_name(struct hc_session *s, char out[72])
{
    do
        (void)snprintf(out, 72, "context-%d", ++s->context_numbers);
    while (find(s, out));
    return out;
}

int hc_session_new_context(struct hc_session *s, const char *name, const char *from, const char *workdir,
                           struct hc_error *err)
{
    char named[72];
    if ((name && hc_job_check_id(name, err) < 0) || refuse_swap(s, err) < 0)
        return -1;
    if (name && find(s, name))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is a context '%.72s' already", name);
    if (s->context_count >= HC_SESSION_CONTEXTS)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "a session has at most %d contexts: end one of them first",
                          HC_SESSION_CONTEXTS);
    if (workdir && *workdir != '/')
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "workdir: expected an absolute path in the cell, got '%.200s'", workdir);
    struct hc_context *added = add(s, name ? name : next_name(s, named), workdir);
    if (!added)
        return hc_fail(err, ENOMEM, "context");
    const int rc = begin(s, added->name, from, added->workdir, err);
    if (rc < 0) {
        forget(s, added);
        if (!name)
            s->context_numbers--; /* the next one gets the name */
    }
    return rc;
}

/* Put the interpreter as it was at the start into the place of the active one. If it cannot enter its
 * directory, it begins in that of the session. */
static int restart_active(struct hc_session *s, char *workdir, struct hc_error *err)
{
    struct hc_saved_copy start;
    if (take_start(s, &start, err) < 0)
        return -1;
    hc_process_end(&s->active); /* else there may be no room yet for the copy */
    const int rc = hc_session_resume(s, &start, workdir, err);
    hc_process_retire(s, &start.process);
    return rc;
}

int hc_session_restart_context(struct hc_session *s, const char *name, struct hc_error *err)
{
    struct hc_error ignored;
    struct hc_context *context = find(s, name);
    if (!context)
        return fail_missing(name, err);
    if (hc_session_unbranched(s, err) < 0)
        return -1;
    if (strcmp(name, s->context) == 0)
        return restart_active(s, context->workdir, err);
    if (refuse_swap(s, err) < 0)
        return -1;
    if (hc_session_saved(s, name, true) && hc_session_enter_context(s, name, &ignored) == 0)
        return restart_active(s, context->workdir, err);
    if (s->over) {
        *err = ignored;
        return -1;
    }
    return begin(s, name, NULL, context->workdir, err);
}

int hc_session_end_context(struct hc_session *s, const char *name, struct hc_error *err)
{
    struct hc_context *context = find(s, name);
    if (!context)
        return fail_missing(name, err);
    if (context == s->contexts)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the context '%s' ends with the session: it can be restarted",
                          HC_CONTEXT_MAIN);
    if (strcmp(name, s->context) == 0 && hc_session_enter_context(s, HC_CONTEXT_MAIN, err) < 0)
        return -1;
    struct hc_saved_copy *at = hc_session_saved(s, name, true);
    if (at) {
        hc_process_end(&at->process); /* else there may be no room yet for what the client does next */
        *at = (struct hc_saved_copy){.process = {.pidfd = -1}};
    }
    forget(s, context);
    return 0;
}

const char *hc_session_context(const struct hc_session *s)
{
    return s->context;
}

size_t hc_session_contexts(const struct hc_session *s, struct hc_session_context out[HC_SESSION_CONTEXTS])
{
    const char *own = s->job.workdir ? s->job.workdir : "/output";
    for (size_t i = 0; i < s->context_count; i++)
        out[i] = (struct hc_session_context){s->contexts[i].name,
                                             s->contexts[i].workdir ? s->contexts[i].workdir : own};
    return s->context_count;
}
