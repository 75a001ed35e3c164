#include "cell/supervise/peak.h"

#include <sys/param.h>

/* The kernel never lowers a process's peak, so in a session it may be of an earlier run. */
static int64_t proven_by(const struct hc_supervisor *s, int64_t peak)
{
    return s->file_pages < 0 || peak <= s->peak_before ? 0 : MAX(peak - s->file_pages, 0);
}

int64_t hc_peak_of_samples(const struct hc_supervisor *s)
{
    return proven_by(s, s->process_peak);
}

/* In a session pid 1 reports the highest peak of all processes that have ended so far. */
int64_t hc_peak_of_end(const struct hc_supervisor *s)
{
    const int64_t peak = s->exit.interpreter_peak;
    return !s->exit_known || s->ended_before || peak <= s->ended_peak ? 0 : proven_by(s, peak);
}
