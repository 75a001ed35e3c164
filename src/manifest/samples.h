/* samples.h - what a running job used from moment to moment, in room that is bounded however long it runs:
 * whenever it is full, every other sample goes and the next ones are taken half as often. */
#ifndef HC_MANIFEST_SAMPLES_H
#define HC_MANIFEST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_SAMPLES 120

/* -1: unknown. */
struct hc_usage_sample {
    int64_t at_us;  /* since the job began */
    int64_t memory; /* bytes, at this moment */
    int64_t cpu_us; /* of all its processes, until this moment */
    int64_t pids;   /* processes and threads, at this moment */
};

struct hc_samples {
    int64_t begun_us; /* by the clock of whoever samples; 0: nothing is sampled */
    int64_t every_us;
    size_t count;
    struct hc_usage_sample items[HC_SAMPLES]; /* the oldest first */
};

void hc_samples_begin(struct hc_samples *s, int64_t now_us, int64_t every_us);

/* Is it time for another? */
bool hc_samples_due(const struct hc_samples *s, int64_t now_us);

/* `at_us` is the clock's here. */
void hc_samples_add(struct hc_samples *s, struct hc_usage_sample now);

#endif
