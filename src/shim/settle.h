/* settle.h - prepares the memory of a zygote so that copies of it cost fewer page faults and page tables. */
#ifndef HC_SHIM_SETTLE_H
#define HC_SHIM_SETTLE_H

/* Has Python's allocator take its memory from one region that huge pages fit into; called before the
 * interpreter starts. */
void hc_settle_begin(void);

/* Prepares the memory; called when everything that the copies share is loaded. Errors are ignored, as they
 * only cost time. */
void hc_settle(void);

#endif
