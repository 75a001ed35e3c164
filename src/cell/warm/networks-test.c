/* A network namespace is given away only when the process that was in it has ended, and a cell in any other
 * one than the one that it was given is refused. The processes here are children that sleep, and the
 * namespace is that of the test. */
#include "cell/warm/networks.h"

#include "base/fd.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include <cmocka.h>

/* A process that sleeps. `ended` is a pipe that only the process can write to: like a pidfd, which valgrind
 * does not know, it is ready to read from when the process has ended. */
struct sleeper {
    pid_t pid;
    int ended;
};

static struct sleeper fall_asleep(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct sleeper s = {.pid = fork(), .ended = ends[0]};
    if (s.pid == 0) {
        (void)pause();
        _exit(0);
    }
    assert_true(s.pid > 0);
    hc_close_fd(&ends[1]);
    return s;
}

static void end(struct sleeper *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
    hc_close_fd(&s->ended);
}

static ino_t own_network(void)
{
    struct stat st;
    assert_int_equal(stat("/proc/self/ns/net", &st), 0);
    return st.st_ino;
}

static void test_one_is_given_away_only_after_its_cell_has_ended(void **state)
{
    (void)state;
    struct hc_networks n = {0};
    struct hc_error err;
    const ino_t here = own_network();
    struct sleeper first = fall_asleep(), second = fall_asleep();
    assert_null(hc_networks_idle(&n));
    assert_int_equal(hc_networks_take(&n, NULL, here, first.pid, first.ended, &err), 0);
    assert_null(hc_networks_idle(&n));

    end(&first);
    struct hc_cell_network *idle = hc_networks_idle(&n);
    assert_non_null(idle);
    assert_true(idle->inode == here);
    assert_int_equal(hc_networks_take(&n, idle, here, second.pid, second.ended, &err), 0);
    assert_null(hc_networks_idle(&n));
    assert_int_equal(n.count, 1);
    end(&second);
    hc_networks_finish(&n);
    assert_int_equal(n.count, 0);
}

static void test_a_cell_in_another_one_is_refused(void **state)
{
    (void)state;
    struct hc_networks n = {0};
    struct hc_error err;
    const ino_t here = own_network();
    struct sleeper first = fall_asleep(), second = fall_asleep();
    /* the namespace that was looked up is not the one that the process is in */
    assert_int_equal(hc_networks_take(&n, NULL, here + 1, first.pid, first.ended, &err), -1);
    assert_int_equal(n.count, 0);
    assert_int_equal(hc_networks_take(&n, NULL, here, first.pid, first.ended, &err), 0);
    /* a new one was due, and it is one that another cell has */
    assert_int_equal(hc_networks_take(&n, NULL, here, second.pid, second.ended, &err), -1);
    end(&first);
    /* another one than was given */
    struct hc_cell_network *idle = hc_networks_idle(&n);
    assert_non_null(idle);
    assert_int_equal(hc_networks_take(&n, idle, here + 1, second.pid, second.ended, &err), -1);
    assert_ptr_equal(hc_networks_idle(&n), idle);
    end(&second);
    hc_networks_finish(&n);
}

static void test_there_is_a_most_and_further_cells_are_not_kept(void **state)
{
    (void)state;
    struct hc_networks n = {0};
    struct hc_error err;
    struct sleeper one = fall_asleep();
    n.count = HC_ZYGOTE_NETWORKS;
    for (size_t i = 0; i < n.count; i++)
        n.list[i] = (struct hc_cell_network){.fd = -1, .cell = dup(one.ended), .inode = i + 1};
    assert_null(hc_networks_idle(&n));
    assert_int_equal(hc_networks_take(&n, NULL, own_network(), one.pid, one.ended, &err), 0);
    assert_int_equal(n.count, HC_ZYGOTE_NETWORKS);
    struct sleeper another = fall_asleep();
    hc_close_fd(&n.list[HC_ZYGOTE_NETWORKS - 1].cell);
    n.list[HC_ZYGOTE_NETWORKS - 1].cell = dup(another.ended);
    end(&one);
    /* all but the last are idle, few of which are kept */
    assert_ptr_equal(hc_networks_idle(&n), &n.list[0]);
    assert_int_equal(n.count, HC_IDLE_NETWORKS + 1);
    assert_true(n.list[HC_IDLE_NETWORKS].inode == HC_ZYGOTE_NETWORKS);
    assert_true(n.list[HC_IDLE_NETWORKS].cell >= 0);
    end(&another);
    hc_networks_finish(&n);
}

static void test_one_that_was_dropped_is_not_given_away(void **state)
{
    (void)state;
    struct hc_networks n = {.count = 2};
    for (size_t i = 0; i < n.count; i++)
        n.list[i] = (struct hc_cell_network){.fd = -1, .cell = -1, .inode = i + 1};
    hc_networks_drop(&n, hc_networks_idle(&n));
    const struct hc_cell_network *other = hc_networks_idle(&n);
    assert_non_null(other);
    assert_true(other->inode == 2);
    hc_networks_drop(&n, hc_networks_idle(&n));
    assert_null(hc_networks_idle(&n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_is_given_away_only_after_its_cell_has_ended),
        cmocka_unit_test(test_a_cell_in_another_one_is_refused),
        cmocka_unit_test(test_one_that_was_dropped_is_not_given_away),
        cmocka_unit_test(test_there_is_a_most_and_further_cells_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
