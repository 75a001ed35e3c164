/* Add up the results of a batch. */
#include "batch/result.h"

#include "base/plain.h"

#include <string.h>
#include <sys/param.h>

#define WIDTH 16 /* buckets from one power of two to the next, all as wide: an error of at most 3.2 % */

/* Exit statuses, worse ones later. A failure of the host or of hotcell itself is the worst, as it says
 * nothing about the jobs. */
static const int order[] = {HC_EXIT_OK,   HC_EXIT_GUEST,  HC_EXIT_REJECTED,    HC_EXIT_LIMIT,
                            HC_EXIT_DATA, HC_EXIT_CONFIG, HC_EXIT_UNAVAILABLE, HC_EXIT_INTERNAL};

static int worse(int a, int b)
{
    for (size_t i = sizeof order / sizeof *order; i-- > 0;)
        if (a == order[i] || b == order[i])
            return order[i];
    return a > b ? a : b;
}

static void add_time(struct hc_tally *t, int64_t us)
{
    int power = 0;
    while (us >> power > 1)
        power++;
    const int64_t parts = power < 4 ? us << (4 - power) : us >> (power - 4); /* WIDTH and more */
    int i = us < 1 ? 0 : power * WIDTH + (int)(parts % WIDTH);
    t->times[MIN(i, HC_TALLY_BUCKETS - 1)]++;
    t->timed++;
}

/* Note the result if its line is the first; jobs end in any order. */
static void note_first(struct hc_tally_first *first, const struct hc_result *r)
{
    if (first->line && first->line <= r->line)
        return;
    first->line = r->line;
    (void)snprintf(first->why, sizeof first->why, "%s", r->reason);
    hc_plain_line(first->why);
}

/* Adds what is known, up to the largest number: results may have been written by others. */
static void add_up(int64_t *sum, int64_t n)
{
    if (n > 0 && __builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

void hc_tally_add(struct hc_tally *t, const struct hc_result *r)
{
    t->count[r->status]++;
    t->ended++;
    t->again += r->attempts > 1;
    t->worst = worse(t->worst, r->exit_code);
    add_up(&t->cpu_us, r->cpu_us);
    add_up(&t->wall_us, r->wall_us);
    t->memory_peak = MAX(t->memory_peak, r->memory_peak);
    add_up(&t->output_bytes, r->output_bytes);
    if (r->status == HC_BATCH_INVALID)
        note_first(&t->invalid, r);
    if (r->status == HC_BATCH_LAUNCH_FAILED)
        note_first(&t->launch_failed, r);
    if (r->wall_us >= 0)
        add_time(t, r->wall_us);
}

/* The wall time in seconds that `percent` per cent of the jobs did not exceed. */
static double percentile(const struct hc_tally *t, int percent)
{
    int64_t below = (t->timed * percent + 99) / 100, so_far = 0;
    for (int i = 0; i < HC_TALLY_BUCKETS; i++)
        if ((so_far += t->times[i]) >= below && so_far)
            return (double)((int64_t)1 << i / WIDTH) * (1 + (i % WIDTH + 0.5) / WIDTH) / 1e6;
    return 0;
}

static double jobs_per_second(const struct hc_tally_end *end)
{
    return end->took_us > 0 ? (double)end->here * 1e6 / (double)end->took_us : 0;
}

void hc_tally_print_json(const struct hc_tally *t, const struct hc_tally_end *end, struct hc_buf *out)
{
    static const int percents[] = {50, 95, 99};
    (void)hc_buf_fmt(out, "{\n  \"ended\": %lld,\n  \"statuses\": {", (long long)t->ended);
    for (int i = 0; i < HC_BATCH_STATUSES; i++)
        (void)hc_buf_fmt(out, "%s\"%s\": %lld", i ? ", " : "", hc_batch_status_name(i),
                         (long long)t->count[i]);
    (void)hc_buf_fmt(out, "},\n  \"lines\": ");
    (void)(end->lines < 0 ? hc_buf_str(out, "null") : hc_buf_fmt(out, "%lld", (long long)end->lines));
    (void)hc_buf_fmt(out, ",\n  \"complete\": %s,\n  \"why_not\": ", end->why ? "false" : "true");
    (void)(end->why ? hc_buf_fmt(out, "\"%s\"", end->why) : hc_buf_str(out, "null"));
    (void)hc_buf_fmt(
        out,
        ",\n  \"run_again\": %lld,\n  \"exit_code\": %d,\n  \"shard\": %lld,\n  \"shards\": %lld,\n"
        "  \"jobs\": %lld,\n",
        (long long)t->again, t->worst, (long long)end->shard, (long long)end->shards, (long long)end->jobs);
    (void)hc_buf_fmt(
        out, "  \"this_run\": {\"ended\": %lld, \"wall\": %.3f, \"per_second\": %.2f},\n  \"job_wall\": {",
        (long long)end->here, (double)end->took_us / 1e6, jobs_per_second(end));
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
        (void)hc_buf_fmt(out, "%s\"p%d\": %.6f", i ? ", " : "", percents[i], percentile(t, percents[i]));
    (void)hc_buf_fmt(out,
                     "},\n  \"usage\": {\"wall\": %.3f, \"cpu\": %.3f, \"memory_peak\": %lld, "
                     "\"output_bytes\": %lld}\n}\n",
                     (double)t->wall_us / 1e6, (double)t->cpu_us / 1e6, (long long)t->memory_peak,
                     (long long)t->output_bytes);
}

static void print_first(const struct hc_tally_first *first, int64_t count, FILE *out)
{
    if (first->line)
        (void)fprintf(out, "%16s %10lld: %s\n", count > 1 ? "first at line" : "at line",
                      (long long)first->line, first->why);
}

void hc_tally_print(const struct hc_tally *t, const struct hc_tally_end *end, FILE *out)
{
    for (int i = 0; i < HC_BATCH_STATUSES; i++) {
        if (t->count[i])
            (void)fprintf(out, "%16s %10lld\n", hc_batch_status_name(i), (long long)t->count[i]);
        if (i == HC_BATCH_INVALID || i == HC_BATCH_LAUNCH_FAILED)
            print_first(i == HC_BATCH_INVALID ? &t->invalid : &t->launch_failed, t->count[i], out);
    }
    (void)fprintf(out, "%16s %10lld%s%s\n", "ended", (long long)t->ended, end->why ? ", not all: " : "",
                  end->why ? end->why : "");
    if (end->took_us > 0)
        (void)fprintf(out, "%16s %10lld in %.1f s, %.1f per second\n", "in this run", (long long)end->here,
                      (double)end->took_us / 1e6, jobs_per_second(end));
    if (t->timed)
        (void)fprintf(out, "%16s %10.3f s, p95 %.3f, p99 %.3f\n", "median of a job", percentile(t, 50),
                      percentile(t, 95), percentile(t, 99));
    (void)fprintf(out, "%16s %10.1f s of processors, at most %.1f MiB each\n", "usage",
                  (double)t->cpu_us / 1e6, (double)t->memory_peak / (1 << 20));
}
