#include "cell/key.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEY 4096 /* most bytes of a key */
#define MIN_KEY 16   /* least bytes of a key */

/* One read gets all of a regular file. No copy of the key stays on the stack, which child processes may
 * inherit. */
static int read_key(int fd, struct hc_buf *key)
{
    char text[MAX_KEY + 1];
    ssize_t n = read(fd, text, sizeof text);
    int rc = n < MIN_KEY || n > MAX_KEY ? -1 : hc_buf_add(key, text, (size_t)n);
    explicit_bzero(text, sizeof text);
    return rc;
}

int hc_key_read(const char *path, struct hc_buf *key, struct hc_error *err)
{
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "key file %s", path);
    bool private = !(st.st_mode & 077) || (st.st_uid == 0 && !(st.st_mode & 037));
    if (!S_ISREG(st.st_mode) || !private)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "key file %s: expected a file that others cannot read (chmod 600)", path);
    if (read_key(fd, key) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "key file %s: expected %d to %d bytes", path, MIN_KEY,
                          MAX_KEY);
    return 0;
}
