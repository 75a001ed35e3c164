/* hotcell, as a user knows it, but that its jobs run in warm cells: for tests, linked with --wrap=hc_run.
 *
 * Each job gets a zygote of its own, so that nothing depends on the order of tests, unless it is one that a
 * warm cell is not for: that one runs cold. With HOTCELL_WARM_SAY set, a line on standard error says which it
 * was. */
#include "cell/run.h"
#include "cell/zygote.h"

#include <stdio.h>
#include <stdlib.h>

int __real_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);
int __wrap_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

static void say(const char *what, const char *why)
{
    if (getenv("HOTCELL_WARM_SAY"))
        (void)fprintf(stderr, "warm: %s%s\n", what, why);
}

int __wrap_hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    struct hc_zygote *zygote;
    struct hc_parked parked;
    struct hc_error refused = {0};
    const char *why = "";
    hc_parked_init(&parked);
    if (hc_zygote_start(&zygote, r->policy, r->job->tenant, 0, &refused) < 0 ||
        hc_zygote_park(zygote, &parked, &refused) < 0)
        say("cold: ", refused.text);
    else if (!hc_parked_fits(&parked, r->job, r->policy, &why))
        say("cold: ", why);
    else
        r->parked = &parked;
    if (r->parked) {
        say("yes", "");
    } else {
        hc_parked_finish(&parked);
        hc_zygote_stop(zygote);
        zygote = NULL;
    }
    int rc = __real_hc_run(r, m, err);
    r->parked = NULL;
    hc_parked_finish(&parked);
    hc_zygote_stop(zygote);
    return rc;
}
