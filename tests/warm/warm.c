/* hotcell, as a user knows it, but that its jobs run in warm cells: for tests, linked with --wrap=hc_run
 * and --wrap=hc_session_start.
 *
 * Each job gets a zygote of its own, so that nothing depends on the order of tests, unless it is one that a
 * warm cell is not for: that one runs cold. So does each session. With HOTCELL_WARM_SAY set, a line on
 * standard error says which it was. */
#include "cell/run.h"
#include "cell/session.h"
#include "cell/warm/zygote.h"

#include <stdio.h>
#include <stdlib.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

int __real_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);
int __wrap_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

static void say(const char *what, const char *why)
{
    if (getenv("HOTCELL_WARM_SAY"))
        (void)fprintf(stderr, "warm: %s%s\n", what, why);
}

/* The one child of a cell's first process; 0: it is not to be found. */
static pid_t child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &child) != 1)
        child = 0;
    if (f)
        (void)fclose(f);
    return child;
}

static bool sleeps(pid_t pid)
{
    char path[64], state = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (f)
        (void)fclose(f);
    return state != 'R' && state != 'D';
}

/* Have the cell copy all that its policy's sample wrote to, as cells do that wait in an idle daemon, and wait
 * for that: until it has read the order, and sleeps again. */
static void prepare(struct hc_parked *p)
{
    const pid_t child = child_of(p->pid);
    int unread = 1;
    hc_parked_prepare(p);
    for (int i = 0; i < 100000 && unread; i++)
        if (ioctl(p->fds[HC_PARKED_CONTROL], SIOCOUTQ, &unread) < 0)
            return;
    for (int i = 0; i < 100000 && child && !sleeps(child); i++)
        ;
}

/* A cell for this, or why there is none. */
static bool make(struct hc_zygote **zygote, struct hc_parked *parked, const struct hc_job *job,
                 const struct hc_policy *policy)
{
    struct hc_error refused = {0};
    const char *why = "";
    char key[HC_SHA256_HEX];
    const struct hc_zygote_heir heir = {.key = key};
    hc_parked_init(parked);
    if (hc_warm_key(policy, job->tenant, key, &refused) < 0 ||
        hc_zygote_start(zygote, policy, HC_ZYGOTE_TOP, &refused) < 0 ||
        hc_zygote_park(*zygote, &heir, parked, &refused) < 0)
        say("cold: ", refused.text);
    else if (!hc_parked_fits(parked, job, policy, NULL, &why))
        say("cold: ", why);
    else {
        if (hc_zygote_sample(*zygote)[0])
            say("its sample fails: ", hc_zygote_sample(*zygote));
        say("yes", "");
        prepare(parked);
        return true;
    }
    hc_parked_finish(parked);
    hc_zygote_stop(*zygote);
    *zygote = NULL;
    return false;
}

int __wrap_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    struct hc_zygote *zygote;
    struct hc_parked parked;
    if (make(&zygote, &parked, r->job, r->policy))
        r->parked = &parked;
    int rc = __real_hc_run(r, m, err);
    r->parked = NULL;
    hc_parked_finish(&parked);
    hc_zygote_stop(zygote);
    return rc;
}

int __real_hc_session_start(struct hc_session **out, const struct hc_session_given *given,
                            struct hc_error *err);
int __wrap_hc_session_start(struct hc_session **out, const struct hc_session_given *given,
                            struct hc_error *err);

static struct hc_zygote *of_session;

static void stop(void)
{
    hc_zygote_stop(of_session);
}

int __wrap_hc_session_start(struct hc_session **out, const struct hc_session_given *given,
                            struct hc_error *err)
{
    static struct hc_policy policy; /* the zygote has it for as long as it lives */
    struct hc_session_given warm = *given;
    struct hc_parked parked;
    policy = hc_session_policy(given->policy);
    if (atexit(stop) == 0 && make(&of_session, &parked, given->job, &policy))
        warm.parked = &parked;
    int rc = __real_hc_session_start(out, &warm, err);
    hc_parked_finish(&parked);
    return rc;
}
