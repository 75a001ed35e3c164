/* input_copies.h - copies of inputs under their own names in the working directory, as most programs open a
 * file by the name that its owner gave it. They are the program's: it may change or remove them. */
#ifndef HC_CELL_SUPERVISE_INPUT_COPIES_H
#define HC_CELL_SUPERVISE_INPUT_COPIES_H

#include "base/error.h"
#include "manifest/manifest.h"

#include <sys/stat.h>

struct hc_input_copy {
    char *name;               /* path of the file below /output; owned */
    ino_t inode;              /* inode number of the file */
    off_t size;               /* bytes of the file */
    struct timespec modified; /* time of the last change of its content, which is older than the cell */
    struct timespec changed;  /* time of the last change of its inode: a program cannot set this one back */
};

#define HC_INPUT_COPIES 1024 /* most copies that are noted: a file beyond them counts as the program's */

struct hc_input_copies {
    struct hc_input_copy *list; /* the copies; owned */
    size_t count;               /* used entries of `list` */
};

/* Note a copy, whose file is open at `fd` (borrowed), and set the file's time to `modified`, or to a second
 * ago if `modified` is later. The note replaces an earlier one of the same name. */
int hc_input_copies_add(struct hc_input_copies *c, const char *name, int fd, struct timespec modified,
                        struct hc_error *err);
void hc_input_copies_finish(struct hc_input_copies *c);

/* Is the file `path` of /output, with this `st`, a copy that the program has not changed? */
bool hc_input_copies_have(const struct hc_input_copies *c, const char *path, const struct stat *st);

/* Does /output, a tmpfs whose root is `output_fd`, hold these copies, all unchanged, and nothing else? */
bool hc_input_copies_alone(const struct hc_input_copies *c, int output_fd);

#endif
