#include "manifest/samples.h"

#define EARLY_US 10000 /* microseconds that a sample may be early: the tick before it may have been late */

void hc_samples_begin(struct hc_samples *s, int64_t now_us, int64_t every_us)
{
    s->begun_us = now_us;
    s->every_us = every_us;
    s->count = 0;
}

bool hc_samples_due(const struct hc_samples *s, int64_t now_us)
{
    if (!s->begun_us)
        return false;
    int64_t last = s->count ? s->items[s->count - 1].at_us : 0;
    return now_us - s->begun_us - last >= s->every_us - EARLY_US;
}

static void thin_out(struct hc_samples *s)
{
    for (size_t i = 1; 2 * i - 1 < s->count; i++)
        s->items[i - 1] = s->items[2 * i - 1];
    s->count /= 2;
    s->every_us *= 2;
}

void hc_samples_add(struct hc_samples *s, struct hc_usage_sample now)
{
    now.at_us -= s->begun_us;
    s->items[s->count++] = now;
    if (s->count == HC_SAMPLES)
        thin_out(s);
}
