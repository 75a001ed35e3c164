/* Show progress: a bar on a terminal, else a line every 10 seconds. */
#include "batch/front.h"

#include "base/log.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BAR_MS    200   /* ms between drawings of the bar */
#define LINE_MS   10000 /* ms between lines of progress */
#define BAR_SIZE  24    /* most columns of the bar */
#define BAR_LEAST 4     /* least columns; with fewer no bar is drawn */
#define COLUMNS   80    /* assumed width if the terminal's is unknown */

int hc_progress_open(struct hc_batch_front *f, struct hc_error *err)
{
    f->bar = isatty(STDERR_FILENO) && !(f->asked->json && isatty(STDOUT_FILENO));
    const long ms = f->bar ? BAR_MS : LINE_MS;
    const struct itimerspec every = {{ms / 1000, ms % 1000 * 1000000}, {ms / 1000, ms % 1000 * 1000000}};
    f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (f->timer < 0 || timerfd_settime(f->timer, 0, &every, NULL) < 0)
        return hc_fail(err, errno, "timerfd");
    return 0;
}

/* The part of the jobs file that was read, 0 to 1; -1: unknown. */
static double part_read(const struct hc_batch_front *f)
{
    if (f->input_bytes <= 0)
        return -1;
    return MIN((double)f->reader.bytes / (double)f->input_bytes, 1);
}

static void print_left(char *out, size_t size, double seconds)
{
    if (seconds < 120)
        (void)snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 7200)
        (void)snprintf(out, size, "%.0f min", seconds / 60);
    else
        (void)snprintf(out, size, "%.1f h", seconds / 3600);
}

static int64_t count_begun(const struct hc_batch_front *f)
{
    int64_t n = (int64_t)f->claim_count;
    for (size_t i = 0; i < f->worker_count; i++)
        n += f->workers[i].busy;
    return n;
}

/* Estimate the time left from the rate of this run, as lines of earlier runs are skipped in no time. */
static void print_estimate(const struct hc_batch_front *f, double rate, char *out, size_t size)
{
    double done = part_read(f);
    char left[32];
    *out = '\0';
    if (f->stop) {
        (void)snprintf(out, size, ", waiting for what runs");
        return;
    }
    if (f->ended_here == 0 || rate <= 0 || done <= 0 || f->reader.line == 0)
        return;
    double lines = (double)f->reader.line / done - (double)f->reader.line;
    print_left(left, sizeof left, (lines / (double)f->asked->shards + (double)count_begun(f)) / rate);
    (void)snprintf(out, size, ", about %s left", left);
}

/* "1234 ended, 3 not ok, 118.2 per second, about 75 s left"; without the rate where there is no room for it.
 */
static int print_state(const struct hc_batch_front *f, char *out, size_t size, int columns)
{
    double took = (double)(hc_now_us() - f->began_us) / 1e6;
    double rate = took > 0 ? (double)f->ended_here / took : 0;
    long long ended = f->tally.ended, bad = ended - f->tally.count[HC_BATCH_OK];
    char estimate[64];
    print_estimate(f, rate, estimate, sizeof estimate);
    int n = snprintf(out, size, "%lld ended, %lld not ok, %.1f per second%s", ended, bad, rate, estimate);
    if (n > columns)
        n = snprintf(out, size, "%lld ended, %lld not ok%s", ended, bad, estimate);
    return n;
}

/* Columns that may be used: one less than the terminal has, as a full line would wrap and stay. */
static int columns_left(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return COLUMNS - 1;
    return size.ws_col - 1;
}

void hc_progress_hide(const struct hc_batch_front *f)
{
    if (f->bar)
        (void)fputs("\r\033[K", stderr);
}

static void draw(const struct hc_batch_front *f)
{
    char state[160];
    double done = part_read(f);
    int columns = columns_left(), n = print_state(f, state, sizeof state, columns);
    int bar = MIN(BAR_SIZE, columns - n - (int)strlen("[] "));
    int full = done < 0 ? 0 : (int)(done * bar);
    (void)fputc('\r', stderr);
    if (bar >= BAR_LEAST)
        (void)fprintf(stderr, "[%.*s%*s] ", full, "########################", bar - full, "");
    (void)fprintf(stderr, "%.*s\033[K", columns, state);
    (void)fflush(stderr);
}

void hc_progress_show(struct hc_batch_front *f)
{
    uint64_t ticks;
    char state[160];
    (void)!read(f->timer, &ticks, sizeof ticks);
    if (f->bar) {
        draw(f);
        return;
    }
    (void)print_state(f, state, sizeof state, INT_MAX);
    hc_info("batch: %s", state);
}
