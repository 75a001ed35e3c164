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

int __real_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);
int __wrap_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

static void say(const char *what, const char *why)
{
    if (getenv("HOTCELL_WARM_SAY"))
        (void)fprintf(stderr, "warm: %s%s\n", what, why);
}

/* A cell for this, or why there is none. */
static bool make(struct hc_zygote **zygote, struct hc_parked *parked, const struct hc_job *job,
                 const struct hc_policy *policy)
{
    struct hc_error refused = {0};
    const char *why = "";
    hc_parked_init(parked);
    if (hc_zygote_start(zygote, policy, job->tenant, 0, &refused) < 0 ||
        hc_zygote_park(*zygote, parked, &refused) < 0)
        say("cold: ", refused.text);
    else if (!hc_parked_fits(parked, job, policy, NULL, &why))
        say("cold: ", why);
    else {
        say("yes", "");
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
