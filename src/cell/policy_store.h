/* policy_store.h - the policies of past jobs, stored by hash in the state directory: the policy behind the
 * hash in a manifest can be read after the policy's file was changed. A job without a manifest stores none.
 *
 * Only the user who runs the cells can read the store: a policy may hold secrets (redact) and the commands
 * of tools. If the store cannot be written, jobs run all the same. */
#ifndef HC_CELL_POLICY_STORE_H
#define HC_CELL_POLICY_STORE_H

#include "policy/policy.h"

/* Most stored policies that a job's own options have changed, for each tenant, and for all jobs without a
 * tenant together; the least recently used are removed. Policies that no job changed are all kept. Each
 * tenant has a folder of its own. */
#define HC_POLICIES_OF_JOBS 4096

/* Largest size in bytes of such a policy: the sender of a job writes the descriptions of its tools, and
 * they may be long. A larger policy is not kept. */
#define HC_POLICY_OF_JOB_MOST ((size_t)64 << 10)

/* Store a policy as it was loaded, and note its hash in it (hc_policy_note_base). To be called before options
 * of tenants and jobs change the policy. -1: the hash could not be computed; a failed write is no error. */
int hc_policy_begin(struct hc_policy *p, struct hc_error *err);

/* Store the policy that is in force for a job of this tenant (NULL: the job has none), if the job changed
 * it. `sha256` is the policy's hash. */
void hc_policy_keep(const struct hc_policy *p, const char sha256[HC_SHA256_HEX], const char *tenant);

/* Read the policy whose hash begins with `prefix` from this user's store or root's into `text`, and check
 * it against the hash. HC_EXIT_DATA: there is none, or several hashes begin so. */
int hc_policy_find(const char *prefix, struct hc_buf *text, struct hc_error *err);

/* Remove the policies of this user's store that no manifest has named for `days` days. Returns the number
 * removed; -1: the store cannot be read. */
int hc_policies_sweep(int days);

#endif
