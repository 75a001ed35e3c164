/* scenes - a program of a user's, in C and in C++, that does with libhotcell what its first arguments say:
 *
 *     scenes command|PATH-OF-A-SOCKET|http://HOST:PORT SCENE [SPEC...]
 *
 * It prints a line of JSON for each thing that happens, and fails if the library has left anything in this process. */
#include <hotcell.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 16

static void die(const char *what)
{
    fprintf(stderr, "scenes: %s\n", what);
    exit(99);
}

/* ---- what is printed ---- */

static void print_text(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == '"' || *p == '\\')
            printf("\\u%04x", *p);
        else
            putchar(*p);
    putchar('"');
}

static void print_error(const struct hotcell_error *e)
{
    printf("{\"exit\": %d, \"sys\": %d", e->status, e->sys);
    print_text("error", e->text);
    printf("}\n");
    fflush(stdout);
}

static void print_files(const hotcell_place *place, const hotcell_result *r)
{
    printf(", \"files\": {");
    for (size_t i = 0; i < hotcell_result_file_count(r); i++) {
        struct hotcell_error e = {0, 0, ""};
        void *data;
        size_t len;
        int rc = hotcell_result_read_file(place, r, i, &data, &len, &e);
        printf("%s\"%s\": {\"bytes\": %llu, \"read\": %d", i ? ", " : "", hotcell_result_file_path(r, i),
               (unsigned long long)hotcell_result_file_size(r, i), rc);
        print_text("mime", hotcell_result_file_mime(r, i));
        print_text("content", rc == 0 ? (const char *)data : NULL);
        print_text("error", e.text);
        printf("}");
        free(data);
    }
    printf("}");
    if (hotcell_result_file_path(r, 1000000) || hotcell_result_file_size(r, 1000000))
        die("a file that is not there");
}

static void print_result(const hotcell_place *place, hotcell_result *r)
{
    size_t len, manifest_len;
    const char *out = hotcell_result_stdout(r, &len), *usage = hotcell_result_member(r, "usage");
    printf("{\"exit\": %d, \"out_len\": %zu, \"run\": %d", hotcell_result_exit_code(r), len, hotcell_result_run(r));
    print_text("status", hotcell_result_status(r));
    print_text("reason", hotcell_result_reason(r));
    print_text("stdout", out);
    print_text("stderr", hotcell_result_stderr(r, NULL));
    print_text("state", hotcell_result_state(r));
    print_text("value", hotcell_result_value(r));
    print_text("manifest", hotcell_result_manifest(r, &manifest_len));
    print_text("usage", usage);
    print_files(place, r);
    printf("}\n");
    fflush(stdout);
    if (strlen(hotcell_result_manifest(r, NULL)) != manifest_len || hotcell_result_member(r, "no such"))
        die("the manifest");
    hotcell_result_free(r);
}

static hotcell_spec *parse(const char *json)
{
    struct hotcell_error e;
    hotcell_spec *spec = hotcell_spec_parse(json, strlen(json), &e);
    if (!spec) {
        print_error(&e);
        exit(0);
    }
    return spec;
}

/* ---- what the library may leave in this process ---- */

/* The number of open descriptors, all of which are close-on-exec beyond the standard three. */
static int count_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(dir))
            continue;
        count++;
        if (fd > 2 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
            die("a descriptor that is not close-on-exec");
    }
    if (dir)
        closedir(dir);
    return count;
}

static struct sigaction actions[32]; /* as they were at the start */

static void note_signals(void)
{
    for (int s = 1; s < 32; s++)
        (void)sigaction(s, NULL, &actions[s]);
}

static void check_signals(void)
{
    struct sigaction action;
    sigset_t blocked;
    for (int s = 1; s < 32; s++)
        if (sigaction(s, NULL, &action) == 0 && action.sa_handler != actions[s].sa_handler)
            die("a handler of a signal");
    if (sigprocmask(SIG_BLOCK, NULL, &blocked) < 0)
        die("sigprocmask");
    for (int s = 1; s < 32; s++)
        if (sigismember(&blocked, s))
            die("a blocked signal");
}

/* ---- scenes ---- */

/* One job after the other. */
static void scene_run(const hotcell_place *place, char **specs, int count)
{
    for (int i = 0; i < count; i++) {
        struct hotcell_error e = {0, 0, ""};
        hotcell_spec *spec = parse(specs[i]);
        hotcell_result *r = hotcell_run(place, spec, &e);
        hotcell_spec_free(spec);
        if (r)
            print_result(place, r);
        else
            print_error(&e);
    }
}

/* All jobs at the same time, in one thread. */
static void scene_poll(const hotcell_place *place, char **specs, int count)
{
    struct pollfd fds[MOST];
    hotcell_job *jobs[MOST];
    struct hotcell_error e = {0, 0, ""};
    int left = 0;
    for (int i = 0; i < count; i++) {
        hotcell_spec *spec = parse(specs[i]);
        jobs[i] = hotcell_job_start(place, spec, &e);
        hotcell_spec_free(spec);
        fds[i].fd = jobs[i] ? hotcell_job_fd(jobs[i]) : -1;
        fds[i].events = POLLIN;
        left += jobs[i] != NULL;
    }
    (void)count_descriptors();
    while (left) {
        if (poll(fds, (nfds_t)count, 120000) <= 0)
            die("poll");
        for (int i = 0; i < count; i++) {
            if (fds[i].fd < 0 || !fds[i].revents)
                continue;
            int progress = hotcell_job_step(jobs[i], &e);
            if (progress == HOTCELL_PENDING)
                continue;
            fds[i].fd = -1;
            left--;
            if (progress == HOTCELL_READY)
                print_result(place, hotcell_job_take_result(jobs[i]));
            else
                print_error(&e);
        }
    }
    for (int i = 0; i < count; i++)
        hotcell_job_free(jobs[i]);
}

/* A job that is cancelled when a line comes on standard input; with "drop": that is freed. */
static void stop(const hotcell_place *place, const char *json, int drop)
{
    struct hotcell_error e = {0, 0, ""};
    char line[8];
    hotcell_spec *spec = parse(json);
    hotcell_job *job = hotcell_job_start(place, spec, &e);
    hotcell_spec_free(spec);
    if (!job)
        die(e.text);
    if (hotcell_job_wait(job, 0, &e) != HOTCELL_PENDING || hotcell_job_take_result(job))
        die("a job that has ended too soon");
    if (!fgets(line, sizeof line, stdin))
        die("standard input");
    if (!drop && hotcell_job_cancel(job, &e) < 0)
        die(e.text);
    if (!drop && hotcell_job_wait(job, -1, &e) == HOTCELL_READY)
        print_result(place, hotcell_job_take_result(job));
    else if (!drop)
        print_error(&e);
    if (!drop && hotcell_job_cancel(job, &e) < 0)
        die("a job that has ended cannot be cancelled");
    hotcell_job_free(job);
}

static void scene_cancel(const hotcell_place *place, char **specs, int count)
{
    (void)count;
    stop(place, specs[0], 0);
}

static void scene_drop(const hotcell_place *place, char **specs, int count)
{
    (void)count;
    stop(place, specs[0], 1);
}

/* A job and its end; with "cancel" that is asked for before the job can have begun. */
static void run_one(const hotcell_place *place, const char *json, int cancel)
{
    struct hotcell_error e = {0, 0, ""};
    hotcell_spec *spec = parse(json);
    hotcell_job *job = hotcell_job_start(place, spec, &e);
    hotcell_spec_free(spec);
    if (!job || (cancel && hotcell_job_cancel(job, &e) < 0))
        die(e.text);
    if (hotcell_job_wait(job, -1, &e) == HOTCELL_READY)
        print_result(place, hotcell_job_take_result(job));
    else
        print_error(&e);
    hotcell_job_free(job);
}

static void scene_cancel_at_once(const hotcell_place *place, char **specs, int count)
{
    (void)count;
    run_one(place, specs[0], 1);
}

/* A job of which the test takes away what runs it. */
static void scene_lost(const hotcell_place *place, char **specs, int count)
{
    (void)count;
    run_one(place, specs[0], 0);
}

/* The first spec is the session's, the others are those of its runs. */
static void scene_session(const hotcell_place *place, char **specs, int count)
{
    struct hotcell_error e = {0, 0, ""};
    hotcell_spec *spec = parse(specs[0]);
    hotcell_session *s = hotcell_session_start(place, spec, &e);
    hotcell_spec_free(spec);
    int progress = s ? hotcell_session_wait(s, -1, &e) : HOTCELL_FAILED;
    if (progress == HOTCELL_FAILED)
        print_error(&e);
    for (int i = 1; i < count && progress != HOTCELL_FAILED; i++) {
        spec = parse(specs[i]);
        if (hotcell_session_run(s, spec, &e) < 0)
            die(e.text);
        if (hotcell_session_run(s, spec, NULL) == 0)
            die("two runs at once");
        hotcell_spec_free(spec);
        progress = hotcell_session_wait(s, -1, &e);
        if (progress == HOTCELL_READY)
            print_result(place, hotcell_session_take_result(s));
        else
            print_error(&e);
        if (progress != HOTCELL_FAILED && hotcell_session_step(s, &e) != HOTCELL_READY)
            die("a session that is not ready");
    }
    hotcell_session_free(s);
}

/* A run that is interrupted until it has ended; then another one. */
static void scene_interrupt(const hotcell_place *place, char **specs, int count)
{
    struct hotcell_error e = {0, 0, ""};
    hotcell_spec *spec = parse(specs[0]);
    hotcell_session *s = hotcell_session_start(place, spec, &e);
    hotcell_spec_free(spec);
    if (!s || hotcell_session_wait(s, -1, &e) != HOTCELL_READY)
        die(e.text);
    for (int i = 1; i < count; i++) {
        spec = parse(specs[i]);
        if (hotcell_session_run(s, spec, &e) < 0)
            die(e.text);
        hotcell_spec_free(spec);
        while (hotcell_session_wait(s, 100, &e) == HOTCELL_PENDING)
            if (hotcell_session_interrupt(s, &e) < 0)
                die(e.text);
        print_result(place, hotcell_session_take_result(s));
    }
    hotcell_session_free(s);
}

/* A session that is freed while a run goes on, at a line on standard input. */
static void scene_leave(const hotcell_place *place, char **specs, int count)
{
    struct hotcell_error e = {0, 0, ""};
    char line[8];
    hotcell_spec *spec = parse(specs[0]);
    hotcell_session *s = hotcell_session_start(place, spec, &e);
    (void)count;
    hotcell_spec_free(spec);
    if (!s || hotcell_session_wait(s, -1, &e) != HOTCELL_READY)
        die(e.text);
    spec = parse(specs[1]);
    if (hotcell_session_run(s, spec, &e) < 0 || !fgets(line, sizeof line, stdin))
        die("standard input");
    hotcell_spec_free(spec);
    hotcell_session_free(s);
}

struct task {
    const hotcell_place *place;
    const char *json;
    hotcell_result *result;
};

static void *run_task(void *data)
{
    struct task *t = (struct task *)data;
    hotcell_spec *spec = parse(t->json);
    t->result = hotcell_run(t->place, spec, NULL);
    hotcell_spec_free(spec);
    return NULL;
}

/* A thread for each spec. */
static void scene_threads(const hotcell_place *place, char **specs, int count)
{
    pthread_t threads[MOST];
    struct task tasks[MOST];
    for (int i = 0; i < count; i++) {
        tasks[i].place = place;
        tasks[i].json = specs[i];
        tasks[i].result = NULL;
        if (pthread_create(&threads[i], NULL, run_task, &tasks[i]) != 0)
            die("pthread_create");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (tasks[i].result)
            print_result(place, tasks[i].result);
    }
}

/* What the builder makes of members given one by one. */
static void scene_build(const hotcell_place *place, char **files, int count)
{
    struct hotcell_error e = {0, 0, ""};
    static const char code[] = "import sys\nprint(sys.argv[1:], x, open(table).read())\n[1, text]";
    hotcell_spec *spec = hotcell_spec_new();
    (void)count;
    if (!spec || hotcell_spec_code(spec, "syntax error", 12, &e) < 0 || hotcell_spec_code(spec, code, sizeof code - 1, &e) < 0 ||
        hotcell_spec_text(spec, "tree", "base", &e) < 0 || hotcell_spec_limit(spec, "timeout", "20s", &e) < 0 ||
        hotcell_spec_limit(spec, "memory", "256M", &e) < 0 || hotcell_spec_var(spec, "x", "12345678901234567890.125", &e) < 0 ||
        hotcell_spec_var(spec, "x", "[1,\n 12345678901234567890]", &e) < 0 || hotcell_spec_var(spec, "text", "\"\\u00e9\\n\"", &e) < 0 ||
        hotcell_spec_json(spec, "args", "[\"a b\", \"\"]", &e) < 0 || hotcell_spec_input(spec, "table:raw", files[0], &e) < 0)
        die(e.text);
    hotcell_result *r = hotcell_run(place, spec, &e);
    hotcell_spec_free(spec);
    if (r)
        print_result(place, r);
    else
        print_error(&e);
}

static void expect(int rc, const struct hotcell_error *e, int status)
{
    if (rc == 0 || e->status != status || !e->text[0])
        die("a wrong argument that was taken");
    print_error(e);
}

/* Arguments that are wrong. */
static void scene_wrong(const hotcell_place *place, char **specs, int count)
{
    struct hotcell_error e = {0, 0, ""};
    hotcell_spec *spec = hotcell_spec_new();
    (void)specs;
    (void)count;
    expect(hotcell_spec_code(spec, "\xff", 1, &e), &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_code(NULL, "1", 1, &e), &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_spec_text(spec, "policy", NULL, &e), &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_text(spec, NULL, "x", &e), &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_spec_var(spec, "x", "{'a': 1}", &e), &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_json(spec, "vars", "[]", &e), &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_json(spec, "args", "[1", &e), &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_parse("[]", 2, &e) == NULL, &e, HOTCELL_EXIT_DATA);
    expect(hotcell_spec_parse(NULL, 0, &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_run(place, NULL, &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_run(NULL, spec, &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_session_start(NULL, spec, &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_place_command("/no/such/hotcell", &e) == NULL, &e, HOTCELL_EXIT_UNAVAILABLE);
    expect(hotcell_place_command("no-such-hotcell", &e) == NULL, &e, HOTCELL_EXIT_UNAVAILABLE);
    expect(hotcell_place_daemon("https://localhost:1", NULL, &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    expect(hotcell_place_daemon("/tmp/x", "two words", &e) == NULL, &e, HOTCELL_EXIT_USAGE);
    if (hotcell_spec_code(spec, "\xff", 1, NULL) == 0 || hotcell_run(place, NULL, NULL))
        die("no error wanted");
    hotcell_spec_free(spec);
    hotcell_spec_free(NULL);
    hotcell_job_free(NULL);
    hotcell_session_free(NULL);
    hotcell_result_free(NULL);
    hotcell_place_free(NULL);
}

static const struct {
    const char *name;
    void (*play)(const hotcell_place *place, char **specs, int count);
} scenes[] = {
    {"run", scene_run},         {"poll", scene_poll},       {"cancel", scene_cancel},
    {"drop", scene_drop},       {"lost", scene_lost},       {"session", scene_session},
    {"leave", scene_leave},     {"threads", scene_threads}, {"build", scene_build},
    {"wrong", scene_wrong},     {"interrupt", scene_interrupt}, {"cancel_at_once", scene_cancel_at_once},
};

int main(int argc, char **argv)
{
    struct hotcell_error e = {0, 0, ""};
    if (argc < 3 || argc > 3 + MOST)
        die("usage");
    for (int fd = 3; fd < 256; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* what this process has inherited is not the library's */
    note_signals();
    int before = count_descriptors();
    hotcell_place *place = strcmp(argv[1], "command") == 0 ? hotcell_place_command(NULL, &e) : hotcell_place_daemon(argv[1], NULL, &e);
    if (!place) {
        print_error(&e);
        return 0;
    }
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (strcmp(scenes[i].name, argv[2]) == 0)
            scenes[i].play(place, argv + 3, argc - 3);
    hotcell_place_free(place);
    if (count_descriptors() != before)
        die("a descriptor that was left open");
    check_signals();
    if (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD)
        die("a child that was left");
    return 0;
}
