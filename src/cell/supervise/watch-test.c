/* What is summed of a tree of processes: each test starts one of its own, which waits with what it has until
 * it is told to end. */
#include "cell/supervise/watch.h"

#include "base/fd.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MB ((int64_t)1 << 20)

/* A process, and those that it starts, in a process group of their own: what() does something, says that it
 * is ready, and returns to wait for the end. */
static pid_t start(void (*what)(int ready))
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        what(ready[1]);
        (void)pause();
        _exit(0);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(-pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void say_ready(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(1);
}

/* ---- processor time ---- */

static int64_t own_cpu_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 300 ms, hardly any of it in the kernel. */
static void use_processor(void)
{
    const int64_t from = own_cpu_ms();
    while (own_cpu_ms() < from + 300)
        for (volatile int i = 0; i < 1000000; i++)
            ;
}

/* Its name, which stands in front of the numbers in the file, looks like the end of a name and numbers. */
static void burn(int ready)
{
    (void)prctl(PR_SET_NAME, "a) R 7 7 7 (");
    use_processor();
    say_ready(ready);
}

static void processor_time_is_read_behind_any_name(void **state)
{
    struct hc_sample s;
    pid_t t = start(burn);
    (void)state;
    hc_watch_sample(t, NULL, &s);
    end(t);
    assert_true(s.cpu_user_us >= 200000 && s.cpu_user_us < 1000000 && s.cpu_system_us < 100000);
    assert_false(s.hidden);
}

static void burn_in_a_child(int ready)
{
    pid_t child = fork();
    if (child == 0) {
        use_processor();
        _exit(0);
    }
    if (waitpid(child, NULL, 0) != child)
        _exit(1);
    say_ready(ready);
}

static void processor_time_of_children_that_have_ended_counts(void **state)
{
    struct hc_sample s;
    pid_t t = start(burn_in_a_child);
    (void)state;
    hc_watch_sample(t, NULL, &s);
    end(t);
    assert_true(s.cpu_user_us >= 200000 && s.cpu_user_us < 1000000);
    assert_int_equal(s.tasks, 1);
}

/* ---- processes, threads and memory ---- */

static void *wait_in_thread(void *none)
{
    (void)pause();
    return none;
}

/* A process with three threads and a child, which has a child. */
static void grow_a_tree(int ready)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
            _exit(1);
    if (fork() == 0 && fork() == 0)
        say_ready(ready);
}

static void processes_and_threads_are_counted_at_any_depth(void **state)
{
    struct hc_sample s;
    pid_t below[8];
    pid_t t = start(grow_a_tree);
    (void)state;
    hc_watch_sample(t, NULL, &s);
    size_t count = hc_watch_below(t, below, 8), one = hc_watch_below(t, below, 1);
    end(t);
    assert_int_equal(s.tasks, 5);
    assert_int_equal(count, 2);
    assert_int_equal(one, 1);
}

static void take_memory(int ready)
{
    char *taken = malloc((size_t)(32 * MB));
    if (!taken)
        _exit(1);
    for (int64_t i = 0; i < 32 * MB; i += 4096)
        ((volatile char *)taken)[i] = 1;
    say_ready(ready);
}

static void do_nothing(int ready)
{
    say_ready(ready);
}

static void memory_that_was_written_counts(void **state)
{
    struct hc_sample with, without;
    pid_t a = start(take_memory), b = start(do_nothing);
    (void)state;
    hc_watch_sample(a, NULL, &with);
    hc_watch_sample(b, NULL, &without);
    end(a);
    end(b);
    assert_true(with.memory - without.memory >= 32 * MB && with.memory - without.memory < 40 * MB);
}

static void what_has_gone_has_nothing(void **state)
{
    struct hc_sample s;
    pid_t t = start(do_nothing);
    (void)state;
    end(t);
    hc_watch_sample(t, NULL, &s);
    assert_true(s.tasks == 0 && s.memory == 0 && s.cpu_user_us == 0 && !s.hidden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processor_time_is_read_behind_any_name),
        cmocka_unit_test(processor_time_of_children_that_have_ended_counts),
        cmocka_unit_test(processes_and_threads_are_counted_at_any_depth),
        cmocka_unit_test(memory_that_was_written_counts),
        cmocka_unit_test(what_has_gone_has_nothing),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
