/* wrapper - what a batch wrapper would start from: runs the programs that it is given, at most four at a time, and says in
 * a line for each how it ended. It waits in poll(2), where it could wait for its own descriptors, too.
 *
 *     cc wrapper.c -o wrapper $(pkg-config --cflags --libs libhotcell)
 *     ./wrapper one.py two.py            # in cells of this host
 *     ./wrapper --daemon one.py two.py   # at hotcelld: $HOTCELL_SOCKET, else the default socket */
#include <hotcell.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE  4
#define MAX_CODE 1000000 /* bytes of a program */

struct slot {
    hotcell_job *job; /* NULL: the slot is free */
    const char *name; /* the program's file */
};

/* Starts the program of a file. */
static hotcell_job *start(const hotcell_place *place, const char *name, struct hotcell_error *error)
{
    char *code = (char *)malloc(MAX_CODE);
    FILE *file = fopen(name, "r");
    hotcell_spec *spec = hotcell_spec_new();
    hotcell_job *job = NULL;
    snprintf(error->text, sizeof error->text, "it cannot be read");
    if (code && file && spec) {
        size_t len = fread(code, 1, MAX_CODE, file);
        if (hotcell_spec_code(spec, code, len, error) == 0 &&
            hotcell_spec_text(spec, "tree", "base", error) == 0 &&
            hotcell_spec_limit(spec, "timeout", "30s", error) == 0 &&
            hotcell_spec_limit(spec, "memory", "256M", error) == 0)
            job = hotcell_job_start(place, spec, error);
    }
    hotcell_spec_free(spec);
    if (file)
        fclose(file);
    free(code);
    return job;
}

/* Says how a job ended; returns 1 if its program did not come to its end. */
static int finish(struct slot *slot, const struct hotcell_error *error)
{
    hotcell_result *result = hotcell_job_take_result(slot->job);
    int failed = !result || hotcell_result_exit_code(result) != HOTCELL_EXIT_OK;
    if (result)
        printf("%s: %s %s\n%s", slot->name, hotcell_result_status(result), hotcell_result_reason(result),
               hotcell_result_stdout(result, NULL));
    else
        printf("%s: not run: %s\n", slot->name, error->text);
    hotcell_result_free(result);
    hotcell_job_free(slot->job);
    slot->job = NULL;
    return failed;
}

/* Waits until one of the jobs has something to do. */
static void await(const struct slot *slots)
{
    struct pollfd fds[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        fds[i].fd = slots[i].job ? hotcell_job_fd(slots[i].job) : -1;
        fds[i].events = POLLIN;
    }
    poll(fds, AT_ONCE, -1);
}

int main(int argc, char **argv)
{
    struct hotcell_error error = {0, 0, ""};
    struct slot slots[AT_ONCE];
    int next = 1, running = 0, failures = 0;
    memset(slots, 0, sizeof slots);
    hotcell_place *place = argc > 1 && strcmp(argv[1], "--daemon") == 0 ? (next++, hotcell_place_daemon(NULL, NULL, &error))
                                                                        : hotcell_place_command(NULL, &error);
    if (!place) {
        fprintf(stderr, "wrapper: %s\n", error.text);
        return error.status;
    }
    while (next < argc || running) {
        for (int i = 0; i < AT_ONCE; i++) {
            if (!slots[i].job && next < argc) {
                slots[i].name = argv[next++];
                slots[i].job = start(place, slots[i].name, &error);
                running += slots[i].job != NULL;
                if (!slots[i].job && ++failures)
                    printf("%s: not run: %s\n", slots[i].name, error.text);
            }
            if (slots[i].job && hotcell_job_step(slots[i].job, &error) != HOTCELL_PENDING) {
                failures += finish(&slots[i], &error);
                running--;
            }
        }
        if (running)
            await(slots);
    }
    hotcell_place_free(place);
    return failures ? 1 : 0;
}
