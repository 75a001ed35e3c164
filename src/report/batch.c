/* The page of a batch: how all of its jobs ended, and which of them to look at. */
#include "report/report.h"

#include "report/chart.h"
#include "report/code.h"
#include "report/data.h"
#include "report/html.h"
#include "report/page.h"
#include "report/value.h"
#include "spec/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>

#define MAX_ROWS    10000 /* of jobs that ended well, and as many of others */
#define MAX_DETAILS 200   /* likewise, but of those that ended well a quarter */
#define MAX_LINE    (INT64_C(1) << 27)
#define MAX_REASON  300
#define MAX_OUTPUT  ((size_t)4 << 10)
#define MAX_NOTES   20

enum status {
    OK,
    ERROR,
    REJECTED,
    TIMEOUT,
    CPU,
    MEMORY,
    PIDS,
    OUTPUT,
    KILLED,
    LAUNCH_FAILED,
    INVALID,
    OUTCOME_UNKNOWN,
    NO_RESULT, /* of a line that was begun */
    STATUSES
};

static const char *const names[STATUSES] = {
    "ok",     "error",         "rejected", "timeout",         "cpu",       "memory", "pids", "output",
    "killed", "launch_failed", "invalid",  "outcome_unknown", "no result",
};

struct row {
    int64_t line;
    enum status status;
    char job_id[72];
    char *reason; /* owned */
    double wall, cpu, memory;
    long attempts, denials, figures;
    bool files; /* in jobs/ID */
    bool owns;  /* see hc_report_batch_has */
    struct hc_buf details;
};

/* Lines, by their numbers. */
struct lines {
    unsigned char *bits; /* owned */
    size_t size;
};

/* Numbers of all jobs, kept or not. */
struct numbers {
    double *values; /* owned */
    size_t count, room;
};

struct hc_report_batch {
    struct row *rows; /* owned */
    size_t count, room;
    size_t kept[2], more, details[2]; /* [ended well] */
    long counts[STATUSES], denials;
    double wall, cpu, memory_peak;
    struct lines begun, resulted;
    struct numbers walls, memories;
    char started[40];
    long shard, shards;
    bool torn;
};

struct hc_report_batch *hc_report_batch_new(void)
{
    return calloc(1, sizeof(struct hc_report_batch));
}

void hc_report_batch_free(struct hc_report_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++) {
        free(b->rows[i].reason);
        hc_buf_finish(&b->rows[i].details);
    }
    free(b->rows);
    free(b->begun.bits);
    free(b->resulted.bits);
    free(b->walls.values);
    free(b->memories.values);
    free(b);
}

void hc_report_batch_torn(struct hc_report_batch *b)
{
    b->torn = true;
}

/* ---- sets and lists ---- */

static bool lines_has(const struct lines *s, int64_t line)
{
    size_t at = (size_t)line / 8;
    return at < s->size && s->bits[at] >> (line % 8) & 1;
}

static int lines_put(struct lines *s, int64_t line, bool in)
{
    size_t at = (size_t)line / 8;
    if (at >= s->size) {
        size_t size = MAX(at + 1, s->size * 2);
        unsigned char *bits = realloc(s->bits, size);
        if (!bits)
            return -1;
        memset(bits + s->size, 0, size - s->size);
        s->bits = bits;
        s->size = size;
    }
    unsigned char bit = (unsigned char)(1U << (line % 8));
    s->bits[at] = (unsigned char)(in ? s->bits[at] | bit : s->bits[at] & ~bit);
    return 0;
}

static int numbers_add(struct numbers *n, double value)
{
    if (!(value >= 0))
        return 0;
    if (n->count == n->room) {
        size_t room = MAX(256, n->room * 2);
        double *values = realloc(n->values, room * sizeof *values);
        if (!values)
            return -1;
        n->values = values;
        n->room = room;
    }
    n->values[n->count++] = value;
    return 0;
}

static struct row *add_row(struct hc_report_batch *b)
{
    if (b->count == b->room) {
        size_t room = MAX(64, b->room * 2);
        struct row *rows = realloc(b->rows, room * sizeof *rows);
        if (!rows)
            return NULL;
        b->rows = rows;
        b->room = room;
    }
    b->rows[b->count] = (struct row){0};
    return &b->rows[b->count++];
}

/* ---- what is said of one job ---- */

static void put_stream(struct hc_buf *out, const cJSON *manifest, const char *name, const char *title)
{
    const char *text = hc_get_text(hc_get(manifest, name), "text");
    if (!*text)
        return;
    hc_html(out, "<h3>%s</h3>\n", title);
    hc_value_put_text(out, text, MAX_OUTPUT);
}

static void put_note(struct hc_buf *out, const cJSON *node, const char *message, bool said)
{
    char what[128];
    long line = hc_get_count(node, "line");
    if (line)
        (void)snprintf(what, sizeof what, "Line %ld, %.80s", line, hc_get_text(node, "rule"));
    else
        (void)snprintf(what, sizeof what, "%.80s", hc_get_text(node, "rule"));
    hc_code_put_note(out, &(struct hc_mark){.class = "refused",
                                            .what = what,
                                            .message = message,
                                            .hint = hc_get_text(node, "hint"),
                                            .said = said,
                                            .count = hc_get_count(node, "count")});
}

static void put_denials(struct hc_buf *out, const cJSON *manifest)
{
    const cJSON *d, *findings = hc_get(hc_get(manifest, "rejection"), "findings");
    const cJSON *list = hc_get(manifest, "denials");
    char more[64];
    int shown = 0, total = MAX(cJSON_GetArraySize(findings), cJSON_GetArraySize(list));
    cJSON_ArrayForEach(d, findings)
    {
        if (shown++ < MAX_NOTES)
            put_note(out, d, hc_get_text(d, "message"), false);
    }
    cJSON_ArrayForEach(d, list)
    {
        if (!cJSON_IsArray(findings) && shown++ < MAX_NOTES)
            put_note(out, d, hc_get_text(d, "what"), !cJSON_IsTrue(hc_get(d, "attested")));
    }
    if (total > MAX_NOTES)
        hc_html(out, "<p class=\"muted\">And %s.</p>\n",
                hc_html_count(total - MAX_NOTES, "more refusal", "more refusals", more));
}

static void put_details(struct hc_buf *out, const cJSON *manifest)
{
    const char *traceback = hc_get_text(hc_get(hc_get(manifest, "guest"), "error"), "traceback");
    put_denials(out, manifest);
    if (*traceback) {
        (void)hc_buf_str(out, "<h3>Exception, as the program says</h3>\n");
        hc_value_put_text(out, traceback, MAX_OUTPUT);
    }
    put_stream(out, manifest, "stdout", "Standard output");
    if (!*traceback)
        put_stream(out, manifest, "stderr", "Standard error");
}

/* ---- a result ---- */

static enum status status_of(const char *name)
{
    enum status s = OK;
    while (s < NO_RESULT && strcmp(names[s], name) != 0)
        s++;
    return s;
}

static char *short_text(const char *text)
{
    size_t len = strnlen(text, MAX_REASON + 1);
    if (len <= MAX_REASON)
        return strdup(text);
    len = MAX_REASON;
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    char *out = strndup(text, len);
    return out;
}

static bool files_there(const cJSON *node, const char *job_id)
{
    char path[80];
    (void)snprintf(path, sizeof path, "jobs/%.71s", job_id);
    return hc_is_id(job_id, 64) && strcmp(hc_get_text(node, "output_dir"), path) == 0;
}

static int keep_row(struct hc_report_batch *b, const cJSON *node, int64_t line, enum status status)
{
    const cJSON *manifest = hc_get(node, "manifest");
    const bool well = status == OK;
    if (b->kept[well] >= MAX_ROWS) {
        b->more++;
        return 0;
    }
    struct row *row = add_row(b);
    if (!row)
        return -1;
    b->kept[well]++;
    row->line = line;
    row->status = status;
    const char *job_id = hc_get_text(node, "job_id");
    (void)snprintf(row->job_id, sizeof row->job_id, "%s", hc_is_id(job_id, 64) ? job_id : "");
    row->reason = short_text(hc_get_text(node, "reason"));
    const cJSON *usage = hc_get(manifest, "usage");
    row->wall = hc_get_number(usage, "wall");
    row->cpu = hc_get_number(usage, "cpu_user") + hc_get_number(usage, "cpu_system");
    row->memory = hc_get_number(usage, "memory_peak");
    row->attempts = hc_get_count(node, "attempts");
    row->denials = hc_get_length(manifest, "denials");
    row->figures = hc_get_length(manifest, "figures");
    row->files = files_there(node, row->job_id);
    row->owns = !cJSON_IsObject(manifest) || hc_report_lists(manifest, "report.html");
    if (cJSON_IsObject(manifest) && b->details[well] < MAX_DETAILS / (well ? 4 : 1)) {
        b->details[well]++;
        put_details(&row->details, manifest);
    }
    return row->reason && !row->details.failed ? 0 : -1;
}

static int add_result(struct hc_report_batch *b, const struct hc_json *j, const cJSON *node,
                      struct hc_error *err)
{
    const cJSON *line = hc_get(node, "line"), *name = hc_get(node, "status");
    enum status status = cJSON_IsString(name) ? status_of(name->valuestring) : NO_RESULT;
    if (!cJSON_IsNumber(line) || !(line->valuedouble >= 1 && line->valuedouble <= (double)MAX_LINE))
        return hc_json_fail(j, line ? line : node, false, err,
                            "line: expected a whole number from 1 to %ld on", (long)MAX_LINE);
    if (status == NO_RESULT)
        return hc_json_fail(j, name ? name : node, false, err, "status: expected one of a batch's results");
    int64_t number = (int64_t)line->valuedouble;
    if (lines_has(&b->resulted, number))
        return 0;
    const cJSON *usage = hc_get(hc_get(node, "manifest"), "usage");
    double wall = hc_get_number(usage, "wall"), memory = hc_get_number(usage, "memory_peak");
    double cpu = hc_get_number(usage, "cpu_user") + hc_get_number(usage, "cpu_system");
    b->counts[status]++;
    b->denials += hc_get_length(hc_get(node, "manifest"), "denials");
    b->wall += wall >= 0 ? wall : 0;
    b->cpu += cpu >= 0 ? cpu : 0;
    b->memory_peak = fmax(b->memory_peak, memory);
    if (lines_put(&b->resulted, number, true) < 0 || numbers_add(&b->walls, wall) < 0 ||
        numbers_add(&b->memories, memory) < 0 || keep_row(b, node, number, status) < 0)
        return hc_fail(err, ENOMEM, "read the batch");
    return 0;
}

/* ---- the journal ---- */

static void note_run(struct hc_report_batch *b, const cJSON *run)
{
    if (!*b->started)
        (void)snprintf(b->started, sizeof b->started, "%s", hc_get_text(run, "started"));
    b->shard = hc_get_count(run, "shard");
    b->shards = hc_get_count(run, "shards");
}

/* Lines that were begun, and those that have ended, whose result may still wait for those before it. */
static int note_line(struct hc_report_batch *b, const struct hc_json *j, const char *kind, const cJSON *node,
                     struct hc_error *err)
{
    if (!cJSON_IsNumber(node) || !(node->valuedouble >= 1 && node->valuedouble <= (double)MAX_LINE))
        return hc_json_fail(j, node, false, err, "%s: expected the number of a line", kind);
    int64_t line = (int64_t)node->valuedouble;
    const cJSON *result = hc_get(j->root, "result");
    if (strcmp(kind, "end") == 0 && result && add_result(b, j, result, err) < 0)
        return -1;
    bool begun = strcmp(kind, "begin") == 0 || strcmp(kind, "start") == 0;
    if (strcmp(kind, "blank") != 0 && lines_put(&b->begun, line, begun) < 0)
        return hc_fail(err, ENOMEM, "read the batch");
    return 0;
}

static int add_line(struct hc_report_batch *b, const struct hc_json *j, struct hc_error *err)
{
    static const char *const kinds[] = {"begin", "start", "back", "end", "blank"};
    const cJSON *run = hc_get(j->root, "batch");
    if (!cJSON_IsObject(j->root))
        return hc_json_fail(j, j->root, false, err, "expected an object, got %s", hc_json_kind(j->root));
    if (hc_get(j->root, "line"))
        return add_result(b, j, j->root, err);
    if (run) {
        note_run(b, run);
        return 0;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (hc_get(j->root, kinds[i]))
            return note_line(b, j, kinds[i], hc_get(j->root, kinds[i]), err);
    return hc_json_fail(j, j->root, false, err, "expected a line of a batch's results or of its journal");
}

/* "name:1:column: ", of a text that has one line, becomes "name:number:column: ". */
static void place(struct hc_error *err, const char *name, int64_t number)
{
    char rest[sizeof err->text];
    size_t len = strlen(name);
    if (strncmp(err->text, name, len) != 0 || strncmp(err->text + len, ":1:", 3) != 0)
        return;
    (void)snprintf(rest, sizeof rest, "%s", err->text + len + 3);
    (void)snprintf(err->text, sizeof err->text, "%.256s:%ld:%.400s", name, (long)number, rest);
}

int hc_report_batch_line(struct hc_report_batch *b, const char *name, int64_t number, const char *text,
                         size_t len, struct hc_error *err)
{
    struct hc_json j;
    int rc = hc_json_parse(&j, name, text, len, err);
    if (rc == 0) {
        rc = add_line(b, &j, err);
        hc_json_finish(&j);
    }
    if (rc < 0)
        place(err, name, number);
    return rc;
}

/* Those that were begun and have no result. */
static int add_open(struct hc_report_batch *b)
{
    for (size_t at = 0; at < b->begun.size; at++) {
        for (int64_t line = (int64_t)at * 8; b->begun.bits[at] && line < (int64_t)at * 8 + 8; line++) {
            if (!lines_has(&b->begun, line) || lines_has(&b->resulted, line))
                continue;
            b->counts[NO_RESULT]++;
            cJSON none = {.type = cJSON_Object};
            if (keep_row(b, &none, line, NO_RESULT) < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- the page ---- */

static long total(const struct hc_report_batch *b)
{
    long sum = 0;
    for (int s = 0; s < STATUSES; s++)
        sum += b->counts[s];
    return sum;
}

static void put_head(const struct hc_report_batch *b, const char *title, struct hc_buf *out)
{
    char value[64];
    long all = total(b);
    hc_html(out, "<header><p class=\"brand\">hotcell report</p>\n<h1>%s</h1>\n<p class=\"verdict\">", title);
    if (!all)
        (void)hc_buf_str(out, "There are no results yet.");
    else if (b->counts[OK] == all)
        hc_html(out, "<span class=\"badge good\">ok</span> %s.",
                all == 1 ? "The only job ended well" : "All jobs ended well");
    else
        hc_html(out, "<span class=\"badge bad\">%ld</span> of %s did not end well.", all - b->counts[OK],
                hc_html_count(all, "job", "jobs", value));
    if (*b->started)
        hc_html(out, " <span class=\"muted\">Started %s.</span>", b->started);
    if (b->shards > 1)
        hc_html(out, " <span class=\"muted\">Shard %ld of %ld.</span>", b->shard, b->shards);
    (void)hc_buf_str(out, "</p>\n<div class=\"tiles\">\n");
    (void)snprintf(value, sizeof value, "%ld", all);
    hc_page_tile(out, value, all == 1 ? "job" : "jobs");
    (void)snprintf(value, sizeof value, "%ld", b->counts[OK]);
    hc_page_tile(out, value, "ended well");
    hc_page_tile(out, hc_html_time(b->wall, value), "by the clock, summed");
    hc_page_tile(out, hc_html_time(b->cpu, value), "processor, summed");
    hc_page_tile(out, hc_html_size(b->memory_peak, value), "memory, at most");
    (void)snprintf(value, sizeof value, "%ld", b->denials);
    hc_page_tile(out, value, b->denials == 1 ? "refusal" : "refusals");
    (void)hc_buf_str(out, "</div>\n</header>\n");
}

static void put_counts(const struct hc_report_batch *b, struct hc_buf *out)
{
    (void)hc_buf_str(out, "<section id=\"outcomes\"><h2>How they ended</h2>\n<div class=\"counts\">\n");
    for (int s = 0; s < STATUSES; s++) {
        if (!b->counts[s])
            continue;
        hc_page_badge(out, names[s]);
        hc_chart_bar(out, hc_page_status_class(names[s]), (double)b->counts[s], (double)total(b));
        hc_html(out, "<b>%ld</b>\n", b->counts[s]);
    }
    (void)hc_buf_str(out, "</div>\n");
    if (b->counts[NO_RESULT])
        hc_html(
            out,
            "<p class=\"muted\">Without a result: begun, and not ended. %s still, or the batch was killed "
            "(hotcell batch --resume goes on with it).</p>\n",
            b->counts[NO_RESULT] == 1 ? "It runs" : "They run");
    if (b->torn)
        (void)hc_buf_str(out,
                         "<p class=\"muted\">The last line of a file is not whole, and was left out.</p>\n");
    (void)hc_buf_str(out, "</section>\n");
}

static void put_charts(const struct hc_report_batch *b, struct hc_buf *out)
{
    if (!b->walls.count)
        return;
    (void)hc_buf_str(out, "<section id=\"charts\"><h2>How long, and how much</h2>\n<div class=\"charts\">\n");
    hc_chart_histogram(out, &(struct hc_histogram){.title = "Time by the clock",
                                                   .values = b->walls.values,
                                                   .count = b->walls.count,
                                                   .format = hc_html_time});
    hc_chart_histogram(out, &(struct hc_histogram){.title = "Memory, at most",
                                                   .values = b->memories.values,
                                                   .count = b->memories.count,
                                                   .format = hc_html_size});
    (void)hc_buf_str(out, "</div>\n</section>\n");
}

/* A cell that sorts by its number. */
static void put_measure(struct hc_buf *out, double value, hc_chart_format *format)
{
    char text[64];
    bool known = value >= 0 && isfinite(value);
    hc_html(out, "<td class=\"num\" data-v=\"%.6f\">%s</td>", known ? value : -1.0, format(value, text));
}

static void put_count(struct hc_buf *out, long value)
{
    hc_html(out, "<td class=\"num\" data-v=\"%ld\">", value);
    if (value)
        hc_html(out, "%ld", value);
    (void)hc_buf_str(out, "</td>");
}

static void put_row(struct hc_buf *out, const struct row *r, bool page)
{
    hc_html(out, "<tr><td class=\"num\" data-v=\"%ld\">", (long)r->line);
    hc_page_line(out, r->details.len ? "line-" : NULL, (long)r->line);
    (void)hc_buf_str(out, "</td><td>");
    if (page)
        hc_html(out, "<a href=\"jobs/%s/report.html\">%s</a>", r->job_id, r->job_id);
    else
        hc_html(out, "%s", r->job_id);
    (void)hc_buf_str(out, "</td><td>");
    hc_page_badge(out, names[r->status]);
    (void)hc_buf_str(out, "</td>");
    put_measure(out, r->wall, hc_html_time);
    put_measure(out, r->cpu, hc_html_time);
    put_measure(out, r->memory, hc_html_size);
    put_count(out, r->denials);
    put_count(out, r->figures);
    put_count(out, r->attempts);
    hc_html(out, "<td>%s</td></tr>\n", r->reason);
}

static int by_line(const void *a, const void *b)
{
    const struct row *one = a, *other = b;
    return one->line < other->line ? -1 : one->line > other->line;
}

static void put_rows(const struct hc_report_batch *b, hc_report_batch_has *has, void *context,
                     struct hc_buf *out)
{
    char more[64];
    (void)hc_buf_str(
        out, "<section id=\"jobs\"><h2>Jobs</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr>"
             "<th>Line</th><th>Job</th><th>Status</th><th>Clock</th><th>Processor</th><th>Memory</th>"
             "<th>Refused</th><th>Figures</th><th>Tries</th><th>Reason</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < b->count; i++) {
        const struct row *r = &b->rows[i];
        put_row(out, r, r->files && has(context, r->job_id, r->owns));
    }
    (void)hc_buf_str(out, "</tbody></table></div>\n");
    if (b->more)
        hc_html(out, "<p class=\"muted\">And %s, which only the counts and charts have.</p>\n",
                hc_html_count((long)b->more, "more", "more", more));
    (void)hc_buf_str(out, "</section>\n");
}

static void put_all_details(const struct hc_report_batch *b, struct hc_buf *out)
{
    if (!b->details[0] && !b->details[1])
        return;
    (void)hc_buf_str(out, "<section id=\"details\"><h2>Details</h2>\n");
    for (size_t i = 0; i < b->count; i++) {
        const struct row *r = &b->rows[i];
        if (!r->details.len)
            continue;
        hc_html(out, "<details><summary><b>Line %ld</b> ", (long)r->line);
        hc_page_badge(out, names[r->status]);
        hc_html(out, " %s <span class=\"muted\">%s</span></summary>\n<div id=\"line-%ld\">\n", r->job_id,
                r->reason, (long)r->line);
        (void)hc_buf_add(out, r->details.data, r->details.len);
        (void)hc_buf_str(out, "</div></details>\n");
    }
    (void)hc_buf_str(out, "</section>\n");
}

int hc_report_batch_page(struct hc_report_batch *b, const char *title, hc_report_batch_has *has,
                         void *context, struct hc_buf *out, struct hc_error *err)
{
    if (add_open(b) < 0)
        return hc_fail(err, ENOMEM, "make the page");
    if (b->count)
        qsort(b->rows, b->count, sizeof *b->rows, by_line);
    hc_page_begin(out, &(struct hc_page){.title = title, .sub = "batch", .sortable = true});
    put_head(b, title, out);
    (void)hc_buf_str(out, "<main>\n");
    if (total(b))
        put_counts(b, out);
    put_charts(b, out);
    if (b->count)
        put_rows(b, has, context, out);
    put_all_details(b, out);
    (void)hc_buf_str(out, "</main>\n");
    hc_page_end(out);
    return out->failed ? hc_fail(err, ENOMEM, "make the page") : 0;
}
