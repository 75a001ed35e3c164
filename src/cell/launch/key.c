#include "cell/key.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MAX_KEY 4096
#define MIN_KEY 16

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
    if (hc_read_all(fd, key, MAX_KEY, err) < 0 || key->len < MIN_KEY)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "key file %s: expected %d to %d bytes", path, MIN_KEY,
                          MAX_KEY);
    return 0;
}
