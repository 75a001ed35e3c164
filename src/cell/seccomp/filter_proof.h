/* filter_proof.h - check a compiled filter before it is used: its answers must be those of the tables. The
 * code that libseccomp makes of the same rules depends on their order, and has been wrong. */
#ifndef HC_CELL_SECCOMP_FILTER_PROOF_H
#define HC_CELL_SECCOMP_FILTER_PROOF_H

#include "cell/filter.h"

/* Run a filter as the kernel would, and return its answer. An instruction that none of our filters has, or
 * an end without an answer, gives SECCOMP_RET_KILL_PROCESS. */
uint32_t hc_filter_run(const struct hc_buf *bpf, const struct seccomp_data *data);

/* Called with a call and arguments worth testing: the values that rows about the call compare with, with
 * and without other bits, in all combinations. Returns false to stop. */
typedef bool hc_filter_sampler(void *ctx, const char *call, const struct seccomp_data *data);

/* Call `each` for each call number up to 1023 of a machine, with such arguments; `call` is NULL for a
 * number that is no call. False as soon as `each` returns false. */
bool hc_filter_samples(uint32_t arch, hc_filter_sampler *each, void *ctx);

/* Check that this filter answers what the tables say, and kills processes that make calls of other
 * machines. */
int hc_filter_prove(const struct hc_buf *bpf, enum hc_filter_kind kind, const struct hc_policy *policy,
                    bool counted, uint32_t arch, struct hc_error *err);

#endif
