/* libc.h - functions of the C library that the shim answers itself, for the interpreter and every library
 * that it loads: the kernel's answer would be about the host, or would be shared with other cells, so that
 * the system call is refused. What needs no such care goes on to the kernel. */
#ifndef HC_SHIM_LIBC_H
#define HC_SHIM_LIBC_H

#include <stdint.h>

/* What the cell may use is what there is: memory for sysinfo(2) and sysconf(3), room in /output and /tmp for
 * statvfs(3). 0 for an /output that has no size of its own. */
void hc_libc_sizes(int64_t memory, int64_t output, int64_t tmp);

#endif
