/* status.h - read /proc/PID/status, into one static buffer. */
#ifndef HC_BASE_STATUS_H
#define HC_BASE_STATUS_H

#include <stdint.h>

/* Read the status file at `path` (`dir_fd` as for openat). Returns its text, which is valid until the next
 * call; NULL with errno set. */
const char *hc_status_read(int dir_fd, const char *path);

/* The number after "KEY:" in such a text, written in this base; `otherwise` if there is no such line. */
uint64_t hc_status_field(const char *text, const char *key, int base, uint64_t otherwise);

/* The process's memory in bytes: anonymous and shared pages, swapped-out anonymous pages, and page tables. */
int64_t hc_status_memory(const char *text);

/* The last number of the line "KEY:", such as "NStgid:\t4711\t2": the id in the innermost namespace. -1 if
 * there is none. */
long hc_status_inner_id(const char *text, const char *key);

/* Number of seccomp filters that this process is under, and that its children inherit. */
int hc_status_own_filters(void);

#endif
