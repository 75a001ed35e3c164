/* status.h - read /proc/PID/status, into one static buffer. */
#ifndef HC_BASE_STATUS_H
#define HC_BASE_STATUS_H

#include <stdint.h>

/* The file's text, good until the next call; NULL with errno. */
const char *hc_status_read(int dir_fd, const char *path);

/* The number after "KEY:"; `otherwise` if there is no such line. */
uint64_t hc_status_field(const char *text, const char *key, int base, uint64_t otherwise);

/* Bytes of anonymous and shared pages, of swapped-out anonymous pages, and of page tables. */
int64_t hc_status_memory(const char *text);

/* The last number of the line "KEY:", such as "NStgid:\t4711\t2": the id in the innermost namespace. -1 if
 * there is none. */
long hc_status_inner_id(const char *text, const char *key);

/* Number of seccomp filters that this process is under, and that its children inherit. */
int hc_status_own_filters(void);

#endif
