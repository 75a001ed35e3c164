/* samples.h - samples of a running job's usage, in an array of fixed size: when it is full, every other
 * sample is dropped, and the interval is doubled. */
#ifndef HC_MANIFEST_SAMPLES_H
#define HC_MANIFEST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_SAMPLES 120 /* most samples of a job */

/* One sample; a number is -1 if it is unknown. */
struct hc_usage_sample {
    int64_t at_us;  /* microseconds since the job began */
    int64_t memory; /* bytes in use at this moment */
    int64_t cpu_us; /* CPU time of all processes of the job so far, in microseconds */
    int64_t pids;   /* number of processes and threads at this moment */
};

struct hc_samples {
    int64_t begun_us; /* when the job began, in us of the sampler's clock; 0: no samples are taken */
    int64_t every_us; /* current interval between samples, in us */
    size_t count;     /* number of samples in `items` */
    struct hc_usage_sample items[HC_SAMPLES]; /* the oldest first */
};

/* Forget earlier samples, and take one every `every_us` microseconds; `now_us` is the sampler's clock. */
void hc_samples_begin(struct hc_samples *s, int64_t now_us, int64_t every_us);

/* Whether the next sample is due. */
bool hc_samples_due(const struct hc_samples *s, int64_t now_us);

/* Add a sample; here `now.at_us` is the sampler's clock. */
void hc_samples_add(struct hc_samples *s, struct hc_usage_sample now);

#endif
