/* status.h - what /proc/PID/status says, read into one place for all. */
#ifndef HC_BASE_STATUS_H
#define HC_BASE_STATUS_H

#include <stdint.h>

/* The file's text, good until the next call; NULL with errno. */
const char *hc_status_read(int dir_fd, const char *path);

/* The number behind "KEY:", `otherwise` if there is no such line. */
uint64_t hc_status_field(const char *text, const char *key, int base, uint64_t otherwise);

/* Bytes of anonymous and shared pages, of those of the former that were swapped out, and of page tables. */
int64_t hc_status_memory(const char *text);

/* The last number behind it, as of "NStgid:\t4711\t2": the id in the innermost namespace. -1 if there is
 * none. */
long hc_status_inner_id(const char *text, const char *key);

/* How many seccomp filters this process is under; whatever it makes inherits them. */
int hc_status_own_filters(void);

#endif
