#include "cell/seccomp/listener.h"

#include "base/fd.h"
#include "cell/filter.h"

#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int hc_listener_open(struct hc_listener *l, int fd, struct hc_error *err)
{
    static const char kind[] = "anon_inode:seccomp notify";
    char path[40], target[64];
    hc_autofd owned = fd;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(path, target, sizeof target);
    if (len < 0)
        return hc_fail(err, errno, "examine the seccomp listener");
    if (len != (ssize_t)strlen(kind) || memcmp(target, kind, strlen(kind)) != 0)
        return hc_fail(err, 0, "a descriptor that is no seccomp listener");
    l->fd = hc_take(&owned);
    return 0;
}

/* Receiving without a waiting call would block. If the caller was killed meanwhile, receiving fails. */
static bool has_waiting_call(const struct hc_listener *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

/* The id is checked afterwards: what the permit read about the caller in /proc was about the caller only
 * if it still waits. */
static bool is_permitted(const struct hc_listener *l, const struct seccomp_notif *question)
{
    return l->permit && l->permit(l->ctx, question) && seccomp_notify_id_valid(l->fd, question->id) == 0;
}

static void let_pass(const struct hc_listener *l, const struct seccomp_notif *question,
                     struct seccomp_notif_resp *answer)
{
    answer->id = question->id;
    answer->flags = (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)seccomp_notify_respond(l->fd, answer);
}

/* Never uses SECCOMP_USER_NOTIF_FLAG_CONTINUE: the caller could change its arguments in memory after the
 * answer. */
static void refuse_call(const struct hc_listener *l, const struct seccomp_notif *question,
                        struct seccomp_notif_resp *answer, struct hc_denials *denials)
{
    struct hc_denial denial;
    answer->id = question->id;
    answer->error = -hc_filter_explain(&question->data, &denial);
    (void)seccomp_notify_respond(l->fd, answer); /* fails if the caller is gone, which does no harm */
    if (denials && !hc_filter_is_habit(&question->data))
        hc_denials_note(denials, &denial, true);
}

/* Letting a call pass is safe if the decision depends on its number and registers: the caller cannot
 * change those, as it could memory that they point to. */
static void learn_from_call(const struct hc_listener *l, const struct seccomp_notif *question,
                            struct seccomp_notif_resp *answer, struct hc_learned *learned)
{
    int error = hc_learn_call(learned, &question->data);
    answer->id = question->id;
    answer->error = -error;
    answer->flags = error ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)seccomp_notify_respond(l->fd, answer);
}

void hc_listener_answer(struct hc_listener *l, int most, struct hc_denials *denials,
                        struct hc_learned *learned)
{
    while (most-- > 0 && has_waiting_call(l)) {
        /* Allocate both for each call: the kernel wants them zeroed, and only libseccomp knows their
         * sizes. */
        struct seccomp_notif *question = NULL;
        struct seccomp_notif_resp *answer = NULL;
        if (seccomp_notify_alloc(&question, &answer) == 0 && seccomp_notify_receive(l->fd, question) == 0) {
            if (is_permitted(l, question))
                let_pass(l, question, answer);
            else if (learned)
                learn_from_call(l, question, answer, learned);
            else
                refuse_call(l, question, answer, denials);
        }
        seccomp_notify_free(question, answer);
        l->answered++; /* failures count, too, so that this loop ends */
    }
}

void hc_listener_finish(struct hc_listener *l)
{
    hc_close_fd(&l->fd);
}
