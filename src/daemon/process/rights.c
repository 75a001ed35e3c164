#include "daemon/process/rights.h"

#include "cell/ids.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int drop_capabilities(struct hc_error *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    if (syscall(SYS_capset, &head, none) < 0)
        return hc_fail(err, errno, "give up capabilities");
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? hc_fail(err, errno, "no new privileges") : 0;
}

int hc_front_uid(uid_t *uid, struct hc_error *err)
{
    uid_t first, count;
    *uid = geteuid();
    if (*uid != 0)
        return 0;
    if (hc_ids_range(&first, &count, err) < 0)
        return -1;
    *uid = first - 1;
    return 0;
}

int hc_drop_rights(struct hc_error *err)
{
    uid_t uid;
    if (hc_front_uid(&uid, err) < 0)
        return -1;
    if (geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return hc_fail(err, errno, "become uid %u", uid);
    if (drop_capabilities(err) < 0)
        return -1;
    if (uid != 0 && setresuid(0, 0, 0) == 0)
        return hc_fail(err, 0, "this process can become root again");
    /* The kernel has cleared this setting when the ids changed. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? hc_fail(err, errno, "prctl") : 0;
}
