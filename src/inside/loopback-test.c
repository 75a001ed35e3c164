/* A process that does not own its network namespace, which it shares with others then, is noticed whatever
 * interfaces there are. */
#include "inside/plan.h"

#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_NAMESPACES 77 /* exit status of a child that could not make a namespace */

static bool is_up(bool raised)
{
    struct hc_error err = {0};
    int interfaces = 0, up = 0;
    return hc_loopback_up(raised, &interfaces, &up, &err) == 0 && interfaces == 1 && up;
}

/* Returns 0, or the number of the step that failed. */
static int try_in_namespaces(void)
{
    struct hc_error err = {0};
    int interfaces, up;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return NO_NAMESPACES;
    if (is_up(true)) /* it is down at first */
        return 1;
    if (!is_up(false) || !is_up(false))
        return 2;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {0};
    if (syscall(SYS_capset, &header, none) < 0)
        return 3;
    if (hc_loopback_up(false, &interfaces, &up, &err) == 0 || err.exit != HC_EXIT_UNAVAILABLE)
        return 4;
    return is_up(true) ? 0 : 5;
}

static void only_the_owner_of_a_network_raises_its_loopback(void **state)
{
    (void)state;
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_in_namespaces());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_NAMESPACES)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_owner_of_a_network_raises_its_loopback)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
