/* Command lines of hotcell run, check, session, mcp and batch: what is read from them, and what they refuse.
 * The request is looked at where a command would begin its work. */
#include "cli/request.h"

#include "base/fd.h"
#include "batch/batch.h"

#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/request-XXXXXX";
static char program[64], policy[64], spec[64], messages[64];

static void (*look)(struct hc_request *q); /* the test's look at the request; NULL: none */

static int work(struct hc_request *q, struct hc_error *err)
{
    (void)err;
    if (look)
        look(q);
    return 42;
}

/* Runs a command line, which ends with NULL, of the command that `q` says. Its messages go to a file. */
static int serve(struct hc_request q, void (*then)(struct hc_request *), const char *first, ...)
{
    char *argv[32] = {(char *)(uintptr_t)q.command};
    int argc = 1, saved = dup(STDERR_FILENO);
    va_list ap;
    va_start(ap, first);
    for (const char *word = first; word; word = va_arg(ap, const char *))
        argv[argc++] = (char *)(uintptr_t)word;
    va_end(ap);
    int to = open(messages, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(saved >= 0 && to >= 0 && dup2(to, STDERR_FILENO) >= 0);
    optind = 0;
    look = then;
    int status = hc_request_serve(&q, argc, argv, "usage\n\nOver the policy\n", work);
    (void)dup2(saved, STDERR_FILENO);
    (void)close(saved);
    (void)close(to);
    return status;
}

static void expect_message(const char *part)
{
    hc_autobuf text = {0};
    struct hc_error err;
    assert_int_equal(hc_read_file(AT_FDCWD, messages, &text, 1 << 16, &err), 0);
    if (!text.data || !strstr(text.data, part))
        fail_msg("expected \"%s\", got \"%s\"", part, text.data ? text.data : "");
}

#define END ((const char *)NULL) /* behind the words of a command line */

static const struct hc_request run = {.command = "run"}, check = {.command = "check", .check = true};

#define RUN(then, ...) serve(run, then, "-p", policy, __VA_ARGS__, END)
#define REFUSED(message, ...)                                                                                \
    do {                                                                                                     \
        assert_int_equal(RUN(NULL, __VA_ARGS__), HC_EXIT_USAGE);                                             \
        expect_message(message);                                                                             \
    } while (0)

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(program, sizeof program, "%s/program.py", folder);
    (void)snprintf(policy, sizeof policy, "%s/policy.json", folder);
    (void)snprintf(spec, sizeof spec, "%s/spec.json", folder);
    (void)snprintf(messages, sizeof messages, "%s/messages", folder);
    write_file(program, "print(1)\n");
    write_file(policy, "{\"limits\": {\"timeout\": \"7s\", \"memory\": \"64M\"}, \"tree\": \"base\"}");
    write_file(spec,
               "{\"code\": \"2\", \"limits\": {\"timeout\": \"3s\"}, \"persist_code\": true, \"seed\": 1}");
    return 0;
}

static int remove_files(void **state)
{
    const char *const paths[] = {program, policy, spec, messages};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        (void)unlink(paths[i]);
    return rmdir(folder);
}

static void see_values(struct hc_request *q)
{
    assert_string_equal(q->job.code, "print(1)\n");
    assert_string_equal(q->file, program);
    assert_string_equal(q->job.tenant, "a");
    assert_string_equal(q->job.output_dir, "out");
    assert_true(q->job.persist_code && q->json && !q->job.check_only);
    assert_int_equal(q->policy.limits.timeout_ms, 7000);
    assert_int_equal(q->policy.limits.memory, 128 << 20);
    assert_int_equal(q->policy.limits.pids, 9);
}

static void options_go_into_the_job_and_over_the_policy(void **state)
{
    (void)state;
    assert_int_equal(RUN(see_values, "--memory", "128M", "--pids=9", "--tenant", "a", "-o", "out",
                         "--persist-code", "--json", program),
                     42);
}

static void see_spec(struct hc_request *q)
{
    assert_string_equal(q->job.code, "2");
    assert_true(q->job.persist_code);
    assert_int_equal(q->policy.limits.timeout_ms, 5000);
    assert_int_equal(q->job.seed, 9);
}

static void the_command_line_overrides_the_spec(void **state)
{
    (void)state;
    assert_int_equal(RUN(see_spec, "--timeout", "5s", "--seed", "9", "--spec", spec), 42);
    assert_int_equal(RUN(see_spec, "--spec", spec, "--seed", "9", "--timeout", "5s"), 42);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    REFUSED("unknown option --memry", "--memry", "1G", program);
    REFUSED("--memory needs a value", "--memory");
    REFUSED("expected 32M to 1T, got", "--memory", "1", program);
    REFUSED("expected", "--timeout", "soon", program);
    REFUSED("--seed", "--seed", "-1", program);
    REFUSED("--tenant", "--tenant", ".hidden", program);
    REFUSED("--var", "--var", "x", program);
    REFUSED("need each other", "--session", "s", program);
}

static void one_program_is_wanted(void **state)
{
    (void)state;
    REFUSED("expected", "--json");
    REFUSED("expected", program, program);
    REFUSED("expected nothing after --spec", "--spec", spec, program);
    assert_int_equal(RUN(NULL, "/nonexistent.py"), HC_EXIT_DATA);
    expect_message("/nonexistent.py");
}

static void see_check(struct hc_request *q)
{
    assert_true(q->job.check_only);
}

static void each_command_has_its_own_options(void **state)
{
    (void)state;
    assert_int_equal(serve(check, see_check, "-p", policy, program, END), 42);
    assert_int_equal(serve(check, NULL, "-p", policy, "-o", "out", program, END), HC_EXIT_USAGE);
    assert_int_equal(serve(check, NULL, "-p", policy, "--persist-code", program, END), HC_EXIT_USAGE);
    expect_message("unknown option --persist-code");
    assert_int_equal(serve(check, NULL, "-p", policy, "--json=1", program, END), HC_EXIT_USAGE);
    expect_message("--json takes no value");
    REFUSED("unknown option --store", "--store", "1G", program);
    const struct hc_request session = {.command = "session", .live = true};
    assert_int_equal(serve(session, NULL, "-p", policy, "--tenant", "a", END), 42);
    assert_int_equal(serve(session, NULL, "-p", policy, program, END), HC_EXIT_USAGE);
    expect_message("expected no program");
}

static void see_given(struct hc_request *q)
{
    /* For the command lines of later programs, the policy's own options included. */
    assert_int_equal(q->jobs, 3);
    assert_int_equal(q->store, 1 << 20);
    bool memory = false;
    for (size_t i = 0; i < q->given_count; i++)
        memory |= strstr(q->given[i], "memory") != NULL;
    assert_true(memory);
}

static void a_server_keeps_options_for_its_programs(void **state)
{
    const struct hc_request mcp = {.command = "mcp", .live = true, .serve = true};
    (void)state;
    assert_int_equal(
        serve(mcp, see_given, "-p", policy, "--jobs", "3", "--store", "1M", "--memory", "96M", END), 42);
    assert_int_equal(serve(mcp, NULL, "-p", policy, "--jobs", "65", END), HC_EXIT_USAGE);
    assert_int_equal(serve(mcp, NULL, "-p", policy, "--jobs", "0", END), HC_EXIT_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_go_into_the_job_and_over_the_policy),
        cmocka_unit_test(the_command_line_overrides_the_spec),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(one_program_is_wanted),
        cmocka_unit_test(each_command_has_its_own_options),
        cmocka_unit_test(a_server_keeps_options_for_its_programs),
    };
    (void)unsetenv("HOTCELL_SOCKET");
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
