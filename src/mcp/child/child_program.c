/* Programs, each run by a `hotcell run` of this same binary. */
#include "mcp/child/stdio.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_MANIFEST ((size_t)256 << 20) /* most bytes of a manifest */
#define LIVE_FD      3                   /* descriptor on which a child sends its output while it runs */
/* most bytes of this output that are read at a time: progress messages have only the end of it */
#define LIVE_PART 8192

static struct hc_child_program *child_of(struct hc_mcp *m, const struct hc_program *p)
{
    return &hc_stdio_of(m)->programs[p - m->programs];
}

void hc_child_places_init(struct hc_stdio *s)
{
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        s->programs[i] =
            (struct hc_child_program){.child = {.pidfd = -1, .err_fd = -1}, .out_fd = -1, .live_fd = -1};
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        s->sessions[i] =
            (struct hc_child_session){.child = {.pidfd = -1, .err_fd = -1}, .in_fd = -1, .out_fd = -1};
}

int hc_child_start_program(struct hc_mcp *m, struct hc_program *p, struct hc_error *err)
{
    struct hc_stdio *s = hc_stdio_of(m);
    struct hc_child_program *c = child_of(m, p);
    char directory[PATH_MAX], timeout[40], live[2][24];
    hc_autofd spec_fd = hc_sealed_memfd("spec", p->spec.data, p->spec.len, err);
    if (spec_fd < 0)
        return -1;
    c->out_fd = memfd_create("manifest", MFD_CLOEXEC);
    c->live_fd = p->progress.token[0] ? memfd_create("output", MFD_CLOEXEC) : -1;
    if (c->out_fd < 0 || hc_directory_run_path(&s->directory, p->run, directory, sizeof directory) < 0)
        return hc_fail(err, errno, "start a program");
    (void)snprintf(timeout, sizeof timeout, "--timeout=%lldms", (long long)p->timeout_ms);
    (void)snprintf(live[0], sizeof live[0], "--live-stdout=%d", LIVE_FD);
    (void)snprintf(live[1], sizeof live[1], "--live-stderr=%d", LIVE_FD);
    const char *const more[] = {
        timeout, "--json", "-o", directory, "--spec", "-", c->live_fd < 0 ? NULL : live[0], live[1], NULL};
    const int fds[] = {spec_fd, c->out_fd, -1, c->live_fd};
    if (hc_child_start(&c->child, s->config, "run", more, fds, err) < 0)
        return -1;
    hc_progress_start(&p->progress, p->timeout_ms);
    return 0;
}

static void finish_program(struct hc_mcp *m, struct hc_program *p)
{
    const struct hc_child_program *c = child_of(m, p);
    hc_autobuf text = {0}, words = {0};
    struct hc_error ignored;
    const bool said = lseek(c->out_fd, 0, SEEK_SET) == 0 &&
                      hc_read_all(c->out_fd, &text, MAX_MANIFEST, &ignored) == 0 && text.len;
    hc_child_messages(&c->child, &words);
    hc_program_ended(m, p, said ? text.data : NULL, text.len, words.failed ? "" : words.data);
}

/* Read output that the program has printed since the last call. */
static void read_live(struct hc_child_program *c, struct hc_program *p)
{
    char part[LIVE_PART];
    ssize_t n;
    while (c->live_fd >= 0 && (n = pread(c->live_fd, part, sizeof part, c->live_at)) > 0) {
        hc_progress_print(&p->progress, part, (size_t)n);
        c->live_at += n;
    }
}

bool hc_child_look(struct hc_mcp *m, struct hc_program *p)
{
    struct hc_child_program *c = child_of(m, p);
    if (hc_child_ended(&c->child)) {
        finish_program(m, p);
        return true;
    }
    read_live(c, p);
    hc_child_kill_if_late(&c->child, hc_mono_ms());
    return false;
}

void hc_child_stop(struct hc_mcp *m, struct hc_program *p)
{
    hc_child_end(&child_of(m, p)->child);
}

void hc_child_clear(struct hc_mcp *m, struct hc_program *p)
{
    struct hc_child_program *c = child_of(m, p);
    hc_child_finish(&c->child);
    hc_close_fd(&c->out_fd);
    hc_close_fd(&c->live_fd);
    c->live_at = 0;
}
