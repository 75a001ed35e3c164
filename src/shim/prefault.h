/* prefault.h - which pages a job has to have for itself, and having them all at once. */
#ifndef HC_SHIM_PREFAULT_H
#define HC_SHIM_PREFAULT_H

/* For the process that will run a trial: a descriptor for hc_prefault_tell; -1: pages cannot be looked at. */
int hc_prefault_open(void);

/* Send in one packet which pages this process has that its parent has not. */
void hc_prefault_tell(int pagemap, int out);

/* In the parent: take what the other one has sent, if it has. */
void hc_prefault_learn(int in);

/* In each later copy of the parent, which may not have unmapped anything since it has learnt of them: have
 * these pages. */
void hc_prefault(void);

#endif
