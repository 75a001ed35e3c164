/* How far it is: a bar on a terminal, a line now and then elsewhere. */
#include "batch/front.h"

#include "base/log.h"
#include "cell/supervise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BAR_MS   200
#define LINE_MS  10000
#define BAR_SIZE 24

int hc_progress_open(struct hc_front *f, struct hc_error *err)
{
    f->bar = isatty(STDERR_FILENO) && !(f->asked->json && isatty(STDOUT_FILENO));
    const long ms = f->bar ? BAR_MS : LINE_MS;
    const struct itimerspec every = {{ms / 1000, ms % 1000 * 1000000}, {ms / 1000, ms % 1000 * 1000000}};
    f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (f->timer < 0 || timerfd_settime(f->timer, 0, &every, NULL) < 0)
        return hc_fail(err, errno, "timerfd");
    return 0;
}

/* Of the jobs file, what has been read; -1: nobody knows. */
static double part(const struct hc_front *f)
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

/* "1234 ended, 3 not ok, 118.2 per second, about 75 s left" */
static void print_state(const struct hc_front *f, char *out, size_t size)
{
    double took = (double)(hc_now_us() - f->began_us) / 1e6, done = part(f);
    double rate = took > 0 ? (double)f->ended_here / took : 0;
    int64_t bad = f->tally.ended - f->tally.count[HC_BATCH_OK];
    int n = snprintf(out, size, "%lld ended, %lld not ok, %.1f per second", (long long)f->tally.ended,
                     (long long)bad, rate);
    /* Lines of earlier runs are passed over in no time: what is left is told by those of this one. */
    if (f->ended_here > 0 && rate > 0 && done > 0 && f->reader.line > 0) {
        double lines = (double)f->reader.line / done - (double)f->reader.line;
        char left[32];
        print_left(left, sizeof left, lines / (double)f->asked->shards / rate);
        (void)snprintf(out + n, size - (size_t)n, ", about %s left", left);
    }
}

void hc_progress_hide(const struct hc_front *f)
{
    if (f->bar)
        (void)fputs("\r\033[K", stderr);
}

void hc_progress_show(struct hc_front *f)
{
    uint64_t ticks;
    char state[160];
    (void)!read(f->timer, &ticks, sizeof ticks);
    print_state(f, state, sizeof state);
    if (!f->bar) {
        hc_info("batch: %s", state);
        return;
    }
    double done = part(f);
    int full = done < 0 ? 0 : (int)(done * BAR_SIZE);
    (void)fprintf(stderr, "\r[%.*s%.*s] %s\033[K", full, "########################", BAR_SIZE - full,
                  "                        ", state);
    (void)fflush(stderr);
}
