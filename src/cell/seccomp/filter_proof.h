/* filter_proof.h - a compiled filter is run here before it is used: it must answer what the tables say. What
 * libseccomp makes of the same rules depends on how they lie beside each other, and has been wrong. */
#ifndef HC_CELL_SECCOMP_FILTER_PROOF_H
#define HC_CELL_SECCOMP_FILTER_PROOF_H

#include "cell/filter.h"

/* Run a filter as the kernel would. An instruction that no filter of ours has, or an end without an answer,
 * kills. */
uint32_t hc_filter_run(const struct hc_buf *bpf, const struct seccomp_data *data);

/* Arguments worth trying with a call: what rows about it compare with, with other bits and without, in all
 * pairs of two arguments, since no row compares more. */
typedef bool hc_filter_sampler(void *ctx, const char *call, const struct seccomp_data *data);

/* Each call number up to 1023 of a machine, with such arguments; `call` is NULL for a number that is no call.
 * False as soon as `each` is. */
bool hc_filter_samples(uint32_t arch, hc_filter_sampler *each, void *ctx);

/* Does this filter answer what the tables say, and does it end processes of other machines? */
int hc_filter_prove(const struct hc_buf *bpf, enum hc_filter_kind kind, const struct hc_policy *policy,
                    bool counted, uint32_t arch, struct hc_error *err);

#endif
