/* What is read of a cgroup's files, by the rows of usage.def. The files are as kernels write them. */
#include "cell/cgroup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const files[][2] = {
    {"cpu.stat",
     "usage_usec 30\nuser_usec 10\nsystem_usec 20\nnr_periods 4\nnr_throttled 1\nthrottled_usec 7\n"},
    {"memory.peak", "4096\n"},
    {"memory.events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n"},
    {"memory.stat", "anon 1\nfile 2\npgfault 14\npgmajfault 15\n"},
    {"pids.peak", "8\n"},
    {"pids.events", "max 9\n"},
    {"io.stat", "8:0 \n253:1 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n8:16 rbytes=10 wbytes=20 "
                "rios=30 wios=40\n"},
    {"memory.pressure",
     "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"},
    {"cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\n"},
};

#define FILES (sizeof files / sizeof *files)

static char place[32];
static struct hc_cgroup group;

static int make_files(void **state)
{
    (void)state;
    (void)snprintf(place, sizeof place, "/tmp/hc-usage-XXXXXX");
    group.fd = mkdtemp(place) ? open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; i < FILES && group.fd >= 0; i++) {
        int fd = openat(group.fd, files[i][0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (write(fd, files[i][1], strlen(files[i][1])) < 0)
            return -1;
        (void)close(fd);
    }
    return group.fd < 0 ? -1 : 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++)
        (void)unlinkat(group.fd, files[i][0], 0);
    (void)close(group.fd);
    return rmdir(place);
}

static void test_numbers(void **state)
{
    struct hc_cgroup_usage used;
    (void)state;
    hc_cgroup_usage(&group, &used);
    const struct hc_job_usage expected = {
        .wall_us = -1,
        .cpu_user_us = 10,
        .cpu_system_us = 20,
        .cpu_throttled_us = 7,
        .memory_peak = 4096,
        .memory_max_hits = 3,
        .memory_high_hits = 2,
        .major_faults = 15,
        .pids_peak = 8,
        .read_bytes = 11,
        .written_bytes = 22,
        .reads = 33,
        .writes = 44,
        .output_bytes = -1,
        .output_files = -1,
        .memory_pressure_some_us = 11,
        .memory_pressure_full_us = 12,
        .cpu_pressure_some_us = 13,
        .cpu_pressure_full_us = -1, /* its line is not there */
        .io_pressure_some_us = -1,  /* nor this file */
        .io_pressure_full_us = -1,
    };
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        const struct hc_usage_row *row = &hc_usage_rows[i];
        if (hc_usage_get(&used.of_cell, row) != hc_usage_get(&expected, row))
            fail_msg("%s: %lld, not %lld", row->name, (long long)hc_usage_get(&used.of_cell, row),
                     (long long)hc_usage_get(&expected, row));
    }
    assert_int_equal(used.oom_kills, 5);
    assert_int_equal(used.pids_refused, 9);
    assert_int_equal(hc_cgroup_cpu_us(&group), 30);
}

static void test_run_has_peaks_only(void **state)
{
    struct hc_cgroup_usage used;
    struct hc_job_usage run;
    (void)state;
    hc_cgroup_usage(&group, &used);
    hc_usage_forget(&run);
    hc_usage_take_peaks(&run, &used.of_cell);
    assert_int_equal(run.memory_peak, 4096);
    assert_int_equal(run.pids_peak, 8);
    assert_int_equal(run.cpu_user_us, -1);
    assert_int_equal(run.reads, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_run_has_peaks_only),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
