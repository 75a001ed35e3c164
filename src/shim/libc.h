/* libc.h - functions of the C library that the shim replaces, for the interpreter and every library that it
 * loads. The filter refuses their system calls, as the kernel's answer would be about the host or would be
 * shared with other cells. Calls that the filter allows still go to the kernel. */
#ifndef HC_SHIM_LIBC_H
#define HC_SHIM_LIBC_H

#include <stdint.h>

/* Sets the sizes in bytes that the functions report: the cell's limits of memory (sysinfo(2), sysconf(3)) and
 * of the files in /output and /tmp (statvfs(3)). `output` is 0 if /output has no limit of its own. */
void hc_libc_sizes(int64_t memory, int64_t output, int64_t tmp);

#endif
