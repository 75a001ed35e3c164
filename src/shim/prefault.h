/* prefault.h - learns which pages a job needs copies of, and makes them all at once in later copies. */
#ifndef HC_SHIM_PREFAULT_H
#define HC_SHIM_PREFAULT_H

/* Opens this process's /proc/self/pagemap for hc_prefault_send, before the trial runs; the caller closes it.
 * -1: this host does not allow it. */
int hc_prefault_open(void);

/* Sends into the socket `out`, in one packet, the list of pages that this process has of its own. */
void hc_prefault_send(int pagemap, int out);

/* Receives the trial's list from the socket `in`; without one the list is empty. Called in its parent. */
void hc_prefault_receive(int in);

/* In a later copy of the parent, which must not have unmapped anything since it received the list: makes
 * copies of the pages in the list, until `fd` becomes readable. */
void hc_prefault_until(int fd);

#endif
