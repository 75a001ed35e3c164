#include "inside/fs.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/weak.h"

#include <errno.h>
#include <stdio.h>

int hc_fs_make(const char *type, const struct hc_fs_option *opts, uint64_t attr, struct hc_error *err)
{
    hc_autofd fs = hc_fsopen(type);
    if (fs < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "open a new %s", type);
    for (; opts && opts->key; opts++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%lld", (long long)opts->number);
        const char *value = opts->text ? opts->text : number;
        if (hc_fsconfig(fs, FSCONFIG_SET_STRING, opts->key, value) < 0)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "set %s=%s for a new %s", opts->key, value,
                              type);
    }
    if (hc_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "create a new %s", type);
    int fd = hc_fsmount(fs, (unsigned)hc_weak_mount_attr(attr));
    return fd >= 0 ? fd : hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "mount a new %s", type);
}

int hc_fs_attach(int mount_fd, int root, const char *where, struct hc_error *err)
{
    if (hc_move_mount(mount_fd, root, where) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "attach /%s", where);
    return 0;
}
