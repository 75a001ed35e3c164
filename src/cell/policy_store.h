/* policy_store.h - policies that jobs were run under, by their hash, in the state directory: what a
 * manifest's hash stands for can be read after the policy's file was changed.
 *
 * For whoever runs cells alone: a policy may say what is secret (redact), and how tools are run. A store that
 * cannot be written costs no job. */
#ifndef HC_CELL_POLICY_STORE_H
#define HC_CELL_POLICY_STORE_H

#include "policy/policy.h"

/* Of policies that jobs have changed, which are as many as their senders like, so many are kept of each
 * tenant, those that were used last, and so many of all jobs without a tenant; of others all. A tenant's are
 * in a folder of its own. */
#define HC_POLICIES_OF_JOBS 4096

/* Bytes of one of them: what a job's tools say of themselves is its sender's, and may be long. A larger one
 * is not kept. */
#define HC_POLICY_OF_JOB_MOST ((size_t)64 << 10)

/* A policy as it was loaded: from here on what tenants and jobs change is not the named policy's
 * (hc_policy_note_base). */
int hc_policy_begin(struct hc_policy *p, struct hc_error *err);

/* It is in force for a job of this tenant (NULL: of none), and has this hash. */
void hc_policy_keep(const struct hc_policy *p, const char sha256[HC_SHA256_HEX], const char *tenant);

/* The text with this hash, or with the only one that begins so: of this user's store or of root's, held
 * against it. HC_EXIT_DATA: there is none, or more than one begins so. */
int hc_policy_find(const char *prefix, struct hc_buf *text, struct hc_error *err);

/* Remove those of this user's store that no job has had for so many days. Returns how many; -1: it cannot be
 * read. */
int hc_policies_sweep(int days);

#endif
