/* copyable.h - can this process be copied into cells that share nothing with it and with each other? */
#ifndef HC_SHIM_COPYABLE_H
#define HC_SHIM_COPYABLE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Files of the tree that libraries keep open, such as fonts: a copy closes what it inherits, and opens these
 * anew, under the same numbers. */
struct hc_open_file {
    int fd;
    off_t at;
    char *path; /* owned */
};
struct hc_open_files {
    struct hc_open_file *list; /* owned */
    size_t count;
};

/* Before anything is imported: the numbers of what each cell has open shall not be those of such files. */
int hc_copyable_reserve(struct hc_error *err);

/* After the policy's own code has run. HC_EXIT_CONFIG: it has left what cannot be copied, or would be shared.
 */
int hc_copyable(struct hc_open_files *out, struct hc_error *err);

/* In a copy. */
int hc_copyable_reopen(const struct hc_open_files *files, struct hc_error *err);

/* In a copy: random numbers of libraries that know a copy by its number, which is that of the zygote. Those
 * of Python modules are renewed in Python (guest_warm.py). */
void hc_copyable_reseed(void);

#endif
