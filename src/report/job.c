/* The page of one job. */
#include "report/report.h"

#include "base/hash.h"
#include "base/units.h"
#include "report/chart.h"
#include "report/code.h"
#include "report/data.h"
#include "report/html.h"
#include "report/image.h"
#include "report/page.h"
#include "report/value.h"
#include "spec/kept.h"
#include "spec/manifest.h"
#include "spec/options.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#define MAX_CODE     ((size_t)4 << 20)
#define MAX_OUTPUT   ((size_t)256 << 10) /* of a stream on the page */
#define MAX_FIGURES  200
#define MAX_RETURNED 50
#define MAX_ROWS     1000 /* of a table of ours */
#define MAX_MARKS    1000

struct job {
    const struct hc_json *j;
    const cJSON *m, *guest;
    const struct hc_report_files *files;
    struct hc_buf *out;
    size_t room; /* for pictures */
    struct hc_buf kept;
    const char *code; /* NULL: it is not known */
    size_t code_len;
    bool changed; /* the file is not the program of the manifest */
};

static const char *text(const struct job *p, const char *name)
{
    return hc_get_text(p->m, name);
}

static bool has(const struct job *p, const char *name)
{
    return hc_get_length(p->m, name) > 0;
}

static void put(const struct job *p, const char *markup)
{
    (void)hc_buf_str(p->out, markup);
}

/* ---- rows of our own tables ---- */

static void begin_table(const struct job *p, const char *head)
{
    put(p, "<div class=\"wide\"><table><thead><tr>");
    put(p, head);
    put(p, "</tr></thead><tbody>\n");
}

static void end_table(const struct job *p, int count)
{
    char rows[64];
    put(p, "</tbody></table></div>\n");
    if (count > MAX_ROWS)
        hc_html(p->out, "<p class=\"muted\">And %s that %s not shown.</p>\n",
                hc_html_count(count - MAX_ROWS, "more", "more", rows), count - MAX_ROWS == 1 ? "is" : "are");
}

static void put_pair(const struct job *p, const char *name, const char *value)
{
    hc_html(p->out, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name, value);
}

static void put_said(const struct job *p)
{
    put(p, "<p class=\"said-all\">Said by the program's own process: as trustworthy as the program.</p>\n");
}

/* ---- the program ---- */

static void add_mark(struct hc_mark *marks, size_t *count, struct hc_mark mark)
{
    if (*count < MAX_MARKS)
        marks[(*count)++] = mark;
}

static void add_findings(struct hc_mark *marks, size_t *count, const cJSON *list, const char *class)
{
    const cJSON *f;
    cJSON_ArrayForEach(f, list)
    {
        add_mark(marks, count,
                 (struct hc_mark){.line = hc_get_count(f, "line"),
                                  .column = hc_get_count(f, "column"),
                                  .end_column = hc_get_count(f, "end_column"),
                                  .class = class,
                                  .what = hc_get_text(f, "rule"),
                                  .message = hc_get_text(f, "message"),
                                  .hint = hc_get_text(f, "hint")});
    }
}

/* Those of the check before the run are among the findings, if it was refused. */
static void add_denials(const struct job *p, struct hc_mark *marks, size_t *count)
{
    const cJSON *d;
    const bool rejected = cJSON_IsObject(hc_get(p->m, "rejection"));
    cJSON_ArrayForEach(d, hc_get(p->m, "denials"))
    {
        if (!hc_get_count(d, "line") || (rejected && strcmp(hc_get_text(d, "layer"), "ast") == 0))
            continue;
        add_mark(marks, count,
                 (struct hc_mark){.line = hc_get_count(d, "line"),
                                  .class = "refused",
                                  .what = hc_get_text(d, "rule"),
                                  .message = hc_get_text(d, "what"),
                                  .hint = hc_get_text(d, "hint"),
                                  .count = hc_get_count(d, "count"),
                                  .said = !cJSON_IsTrue(hc_get(d, "attested"))});
    }
}

/* The last line of the program in the traceback: where it was when it failed. */
static void add_error(const struct job *p, struct hc_mark *marks, size_t *count)
{
    static const char where[] = "File \"<cell>\", line ";
    const cJSON *error = hc_get(p->guest, "error");
    long line = 0;
    for (const char *at = hc_get_text(error, "traceback"); (at = strstr(at, where)); at += sizeof where - 1)
        line = strtol(at + sizeof where - 1, NULL, 10);
    if (line > 0)
        add_mark(marks, count,
                 (struct hc_mark){.line = line,
                                  .class = "raised",
                                  .what = hc_get_text(error, "type"),
                                  .message = hc_get_text(error, "message"),
                                  .hint = "",
                                  .said = true});
}

static struct hc_mark *collect_marks(const struct job *p, size_t *count)
{
    struct hc_mark *marks = calloc(MAX_MARKS, sizeof *marks);
    *count = 0;
    if (!marks)
        return NULL;
    add_findings(marks, count, hc_get(hc_get(p->m, "rejection"), "findings"), "refused");
    add_denials(p, marks, count);
    add_findings(marks, count, hc_get(hc_get(p->m, "check"), "warnings"), "warned");
    add_error(p, marks, count);
    return marks;
}

static bool code_there(const struct job *p)
{
    return p->code || cJSON_IsObject(hc_get(p->m, "code"));
}

static void put_marks_alone(const struct job *p, const struct hc_mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (marks[i].line)
            hc_html(p->out, "<p class=\"at\">Line %ld</p>\n", marks[i].line);
        hc_code_put_note(p->out, &marks[i]);
    }
}

static void put_code(struct job *p)
{
    size_t count;
    struct hc_mark *marks = collect_marks(p, &count);
    char size[64];
    if (!marks) {
        p->out->failed = true;
        return;
    }
    if (p->changed)
        put(p, "<p class=\"alarm\">This file has changed since: it is not the program that the manifest is "
               "of.</p>\n");
    if (p->code) {
        hc_code_put(p->out, p->code, p->code_len, marks, count);
    } else {
        hc_html(p->out, "<p class=\"none\">The program (%s) was not kept with this job.</p>\n",
                hc_html_size(hc_get_number(hc_get(p->m, "code"), "bytes"), size));
        put_marks_alone(p, marks, count);
    }
    free(marks);
}

/* ---- refusals and tools ---- */

static bool denials_there(const struct job *p)
{
    return has(p, "denials");
}

static void put_denials(struct job *p)
{
    const cJSON *d;
    int shown = 0;
    begin_table(p, "<th>Line</th><th>Layer</th><th>Rule</th><th>What</th><th>Times</th><th>Instead</th>");
    cJSON_ArrayForEach(d, hc_get(p->m, "denials"))
    {
        long line = hc_get_count(d, "line");
        if (shown++ == MAX_ROWS)
            break;
        put(p, "<tr><td class=\"num\">");
        if (line)
            hc_page_line(p->out, p->code ? "L" : NULL, line);
        hc_html(p->out,
                "</td><td>%s%s</td><td>%s</td><td><code>%s</code></td><td "
                "class=\"num\">%ld</td><td>%s</td></tr>\n",
                hc_get_text(d, "layer"), cJSON_IsTrue(hc_get(d, "attested")) ? "" : " (said by the program)",
                hc_get_text(d, "rule"), hc_get_text(d, "what"), hc_get_count(d, "count"),
                hc_get_text(d, "hint"));
    }
    end_table(p, hc_get_length(p->m, "denials"));
}

static bool tools_there(const struct job *p)
{
    return has(p, "tools");
}

static void put_tools(struct job *p)
{
    const cJSON *t;
    char wall[64];
    int shown = 0;
    begin_table(p, "<th>Tool</th><th>Arguments</th><th>Outcome</th><th>Took</th>");
    cJSON_ArrayForEach(t, hc_get(p->m, "tools"))
    {
        if (shown++ == MAX_ROWS)
            break;
        hc_html(p->out,
                "<tr><td>%s</td><td><code>%s</code></td><td>%s <span class=\"muted\">%s</span></td><td "
                "class=\"num\">%s</td></tr>\n",
                hc_get_text(t, "name"), hc_get_text(t, "arguments"), hc_get_text(t, "status"),
                hc_get_text(t, "message"), hc_html_time(hc_get_number(t, "wall"), wall));
    }
    end_table(p, hc_get_length(p->m, "tools"));
}

static bool runs_there(const struct job *p)
{
    return has(p, "runs");
}

static void put_runs(struct job *p)
{
    const cJSON *r;
    int shown = 0;
    begin_table(p, "<th>Run</th><th>Job</th><th>Status</th><th>State</th><th>Reason</th>");
    cJSON_ArrayForEach(r, hc_get(p->m, "runs"))
    {
        if (shown++ == MAX_ROWS)
            break;
        hc_html(p->out, "<tr><td class=\"num\">%ld</td><td>%s</td><td>", hc_get_count(r, "run"),
                hc_get_text(r, "job_id"));
        hc_page_badge(p->out, hc_get_text(r, "status"));
        hc_html(p->out, "</td><td>%s</td><td>%s</td></tr>\n", hc_get_text(r, "state"),
                hc_get_text(r, "reason"));
    }
    end_table(p, hc_get_length(p->m, "runs"));
}

/* ---- what came out ---- */

static bool output_there(const struct job *p)
{
    return *hc_get_text(hc_get(p->m, "stdout"), "text") || *hc_get_text(hc_get(p->m, "stderr"), "text") ||
           hc_get_count(hc_get(p->m, "stdout"), "bytes") || hc_get_count(hc_get(p->m, "stderr"), "bytes");
}

static void put_stream(const struct job *p, const char *name, const char *title)
{
    const cJSON *stream = hc_get(p->m, name);
    char size[64], redactions[64];
    long redacted = hc_get_count(stream, "redactions");
    if (!hc_get_count(stream, "bytes") && !*hc_get_text(stream, "text"))
        return;
    hc_html(p->out, "<h3>%s <span class=\"muted\">%s written", title,
            hc_html_size(hc_get_number(stream, "bytes"), size));
    if (cJSON_IsTrue(hc_get(stream, "truncated")))
        put(p, ", not all of it kept");
    if (redacted)
        hc_html(p->out, ", %s", hc_html_count(redacted, "redaction", "redactions", redactions));
    put(p, "</span></h3>\n");
    hc_value_put_text(p->out, hc_get_text(stream, "text"), MAX_OUTPUT);
}

static void put_output(struct job *p)
{
    put_stream(p, "stdout", "Standard output");
    put_stream(p, "stderr", "Standard error");
}

static bool error_there(const struct job *p)
{
    return cJSON_IsObject(hc_get(p->guest, "error"));
}

static void put_error(struct job *p)
{
    const cJSON *error = hc_get(p->guest, "error");
    put_said(p);
    hc_html(p->out, "<p><b>%s</b>: %s</p>\n", hc_get_text(error, "type"), hc_get_text(error, "message"));
    hc_value_put_text(p->out, hc_get_text(error, "traceback"), MAX_OUTPUT);
}

static bool value_there(const struct job *p)
{
    return cJSON_IsObject(hc_get(p->guest, "value"));
}

static void put_value(struct job *p)
{
    put_said(p);
    hc_value_put_bundle(p->out, p->j, hc_get(p->guest, "value"), &p->room);
}

static bool results_there(const struct job *p)
{
    return hc_get_length(p->guest, "results") > 0 || hc_get_length(p->guest, "returned") > 0;
}

static void put_returned(const struct job *p, const cJSON *r)
{
    const cJSON *json = hc_get(r, "json");
    hc_html(p->out, "<h3><code>%s</code> <span class=\"muted\">%s %s %s</span></h3>\n", r->string,
            hc_get_text(r, "type"), hc_get_text(r, "path"), hc_get_text(r, "error"));
    if (json)
        hc_value_put_json(p->out, p->j, json);
}

static void put_results(struct job *p)
{
    const cJSON *r, *returned = hc_get(p->guest, "returned");
    int shown = 0;
    put_said(p);
    if (hc_get_length(p->guest, "results") > 0)
        hc_value_put_json(p->out, p->j, hc_get(p->guest, "results"));
    cJSON_ArrayForEach(r, returned)
    {
        if (!cJSON_IsObject(returned) || shown++ == MAX_RETURNED)
            break;
        put_returned(p, r);
    }
}

/* ---- figures and files ---- */

static int read_listed(const struct job *p, const cJSON *entry, struct hc_buf *out, struct hc_error *err)
{
    char *path = strdup(hc_get_text(entry, "path"));
    if (!path)
        return hc_fail(err, ENOMEM, "figure");
    if (cJSON_IsTrue(hc_get(entry, "escaped")))
        hc_name_unescape(path);
    int rc = p->files->read(p->files->context, path, HC_IMAGE_MAX, out, err);
    free(path);
    return rc;
}

static void put_picture(struct job *p, const cJSON *figure)
{
    hc_autobuf data = {0};
    struct hc_error err;
    char hex[HC_SHA256_HEX];
    const char *mime = hc_get_text(figure, "mime"), *path = hc_get_text(figure, "path");
    if (strncmp(mime, "image/", 6) != 0) {
        put(p, "<p class=\"none\">A page cannot show this type.</p>");
        return;
    }
    if (read_listed(p, figure, &data, &err) < 0) {
        hc_html(p->out, "<p class=\"none\">Not shown: %s.</p>", err.text);
        return;
    }
    hc_sha256_hex(data.data ? data.data : "", data.len, hex);
    if (strcmp(hex, hc_get_text(figure, "sha256")) != 0)
        put(p, "<p class=\"alarm\">Not shown: this file has changed since.</p>");
    else
        hc_image_put(p->out, mime, path, data.data ? data.data : "", data.len, &p->room);
}

static bool figures_there(const struct job *p)
{
    return has(p, "figures");
}

static void put_figures(struct job *p)
{
    const cJSON *f;
    char size[64];
    int shown = 0;
    put(p, "<div class=\"figures\">\n");
    cJSON_ArrayForEach(f, hc_get(p->m, "figures"))
    {
        if (shown++ == MAX_FIGURES)
            break;
        put(p, "<figure>");
        put_picture(p, f);
        hc_html(p->out, "<figcaption>%s <span class=\"muted\">%s, %s</span></figcaption></figure>\n",
                hc_get_text(f, "path"), hc_get_text(f, "mime"),
                hc_html_size(hc_get_number(f, "bytes"), size));
    }
    put(p, "</div>\n");
    if (shown > MAX_FIGURES)
        hc_html(p->out, "<p class=\"muted\">The first %d are shown.</p>\n", MAX_FIGURES);
}

static bool files_there(const struct job *p)
{
    return has(p, "files") || hc_get_length(hc_get(p->m, "skipped"), "entries") > 0;
}

static void put_files(struct job *p)
{
    const cJSON *f, *skipped = hc_get(p->m, "skipped");
    char size[64];
    int shown = 0;
    begin_table(p, "<th>File</th><th>Size</th><th>SHA-256, or why it was not kept</th>");
    cJSON_ArrayForEach(f, hc_get(p->m, "files"))
    {
        if (shown++ == MAX_ROWS)
            break;
        hc_html(
            p->out, "<tr><td>%s</td><td class=\"num\">%s</td><td><code class=\"hash\">%s</code></td></tr>\n",
            hc_get_text(f, "path"), hc_html_size(hc_get_number(f, "bytes"), size), hc_get_text(f, "sha256"));
    }
    shown = 0;
    cJSON_ArrayForEach(f, hc_get(skipped, "entries"))
    {
        if (shown++ == MAX_ROWS)
            break;
        hc_html(p->out, "<tr class=\"off\"><td>%s</td><td class=\"num\">\xe2\x80\x93</td><td>%s</td></tr>\n",
                hc_get_text(f, "path"), hc_get_text(f, "reason"));
    }
    end_table(p, hc_get_length(p->m, "files"));
    if (hc_get_count(skipped, "more"))
        hc_html(p->out, "<p class=\"muted\">And %ld more that were not kept.</p>\n",
                hc_get_count(skipped, "more"));
}

/* ---- what it took ---- */

static const struct {
    const char *name, *label;
    char *(*format)(double, char[64]);
} usage_rows[] = {
    {"wall", "Time by the clock", hc_html_time},
    {"cpu_user", "Processor, in the program", hc_html_time},
    {"cpu_system", "Processor, in the kernel", hc_html_time},
    {"cpu_throttled", "Held back by limits.cpus", hc_html_time},
    {"memory_peak", "Memory, at most", hc_html_size},
    {"memory_max_hits", "Times at limits.memory", hc_chart_number},
    {"memory_high_hits", "Times at limits.memory_soft", hc_chart_number},
    {"pids_peak", "Processes and threads, at most", hc_chart_number},
    {"read_bytes", "Read from disks", hc_html_size},
    {"written_bytes", "Written to disks", hc_html_size},
    {"output_bytes", "Output on its file system", hc_html_size},
    {"output_files", "Files and directories there", hc_chart_number},
    {"memory_pressure_some", "Waited for memory", hc_html_time},
    {"cpu_pressure_some", "Waited for a processor", hc_html_time},
    {"io_pressure_some", "Waited for disks", hc_html_time},
};

/* One of the three series. `rate`: what it grew by per second. Samples without it are left out. */
static size_t read_series(const cJSON *samples, const char *name, bool rate, struct hc_point *points)
{
    const cJSON *s;
    size_t count = 0;
    double last_t = 0, last = 0;
    cJSON_ArrayForEach(s, samples)
    {
        double t = hc_get_number(s, "t"), y = hc_get_number(s, name);
        if (!(t > last_t) || !(y >= 0) || count == HC_SAMPLES)
            continue;
        points[count++] = (struct hc_point){.x = t, .y = rate ? MAX(y - last, 0.0) / (t - last_t) : y};
        last_t = t;
        last = y;
    }
    return count;
}

static void put_series(const struct job *p, const char *name, const char *title, bool rate, double ceiling,
                       hc_chart_format *format)
{
    const cJSON *usage = hc_get(p->m, "usage");
    struct hc_point points[HC_SAMPLES];
    size_t count = read_series(hc_get(usage, "samples"), name, rate, points);
    if (count < 3)
        return;
    hc_chart_line(p->out,
                  &(struct hc_line_chart){.title = title,
                                          .points = points,
                                          .count = count,
                                          .until = fmax(points[count - 1].x, hc_get_number(usage, "wall")),
                                          .ceiling = ceiling,
                                          .ceiling_name = "the limit",
                                          .format = format});
}

static bool usage_there(const struct job *p)
{
    return has(p, "usage");
}

static void put_timing(const struct job *p)
{
    static const char *const stages[] = {"build", "start", "run", "collect"};
    const cJSON *timing = hc_get(p->m, "timing");
    char took[64];
    put(p, "<p class=\"stages\">");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        hc_html(p->out, "<span><b>%s</b> %s</span>", hc_html_time(hc_get_number(timing, stages[i]), took),
                stages[i]);
    put(p, "</p>\n");
}

static void put_usage(struct job *p)
{
    const cJSON *usage = hc_get(p->m, "usage");
    char value[64];
    put(p, "<div class=\"charts\">\n");
    put_series(p, "memory", "Memory", false, hc_get_number(hc_get(p->m, "limits"), "memory"), hc_html_size);
    put_series(p, "cpu", "Processors in use", true, hc_get_number(hc_get(p->m, "limits"), "cpus"),
               hc_chart_number);
    put_series(p, "pids", "Processes and threads", false, hc_get_number(hc_get(p->m, "limits"), "pids"),
               hc_chart_number);
    put(p, "</div>\n");
    put_timing(p);
    put(p, "<table class=\"pairs\"><tbody>\n");
    for (size_t i = 0; i < sizeof usage_rows / sizeof *usage_rows; i++)
        if (!isnan(hc_get_number(usage, usage_rows[i].name)))
            put_pair(p, usage_rows[i].label,
                     usage_rows[i].format(hc_get_number(usage, usage_rows[i].name), value));
    put(p, "</tbody></table>\n");
}

/* ---- what held it ---- */

static bool layers_there(const struct job *p)
{
    return has(p, "layers");
}

static void put_layers(struct job *p)
{
    const cJSON *layer;
    int shown = 0;
    begin_table(p, "<th>Layer</th><th></th><th>How it was checked</th>");
    cJSON_ArrayForEach(layer, hc_get(p->m, "layers"))
    {
        bool on = cJSON_IsTrue(hc_get(layer, "on"));
        if (!layer->string || shown++ == MAX_ROWS)
            break;
        hc_html(p->out, "<tr%s><td>%s</td><td><span class=\"badge %s\">%s</span></td><td>%s</td></tr>\n",
                on ? "" : " class=off", layer->string, on ? "good" : "bad", on ? "on" : "off",
                hc_get_text(layer, "evidence"));
    }
    end_table(p, hc_get_length(p->m, "layers"));
}

static bool limits_there(const struct job *p)
{
    return has(p, "limits");
}

/* As people write it, which is exact. */
static const char *limit_text(const struct hc_option *opt, const cJSON *limit, char number[64])
{
    if (!cJSON_IsNumber(limit))
        return cJSON_IsString(limit) ? limit->valuestring : "";
    double value = limit->valuedouble;
    bool exact = value >= 0 && value < 9e15 && value == floor(value);
    if (opt && opt->kind == HC_OPT_SIZE && exact)
        return hc_format_size((int64_t)value, number, 64);
    if (opt && opt->kind == HC_OPT_DURATION && value >= 0 && value < 9e12)
        return hc_format_duration((int64_t)(value * 1000 + 0.5), number, 64);
    (void)snprintf(number, 64, "%.15g", value);
    return number;
}

static void put_limit(const struct job *p, const cJSON *limit, const char *by)
{
    char path[128], number[64];
    (void)snprintf(path, sizeof path, "limits.%.100s", limit->string);
    const struct hc_option *opt = hc_option_by_path(path);
    hc_html(p->out, "<tr><td title=\"%s\">%s</td><td class=\"num\">%s</td><td>%s</td></tr>\n",
            opt ? opt->help : "", limit->string, limit_text(opt, limit, number), by);
}

static void put_limits(struct job *p)
{
    const cJSON *limit, *limits = hc_get(p->m, "limits");
    int shown = 0;
    begin_table(p, "<th>Limit</th><th>Value</th><th>Enforced by</th>");
    cJSON_ArrayForEach(limit, limits)
    {
        if (!limit->string || cJSON_IsObject(limit) || shown++ == MAX_ROWS)
            continue;
        put_limit(p, limit, hc_get_text(hc_get(limits, "enforced_by"), limit->string));
    }
    end_table(p, 0);
}

/* ---- where it came from ---- */

static bool always(const struct job *p)
{
    (void)p;
    return true;
}

static void put_identity(const struct job *p, const char *member, const char *label)
{
    const cJSON *node = hc_get(p->m, member);
    hc_html(p->out, "<tr><th scope=\"row\">%s</th><td>%s <code class=\"hash\">%s</code></td></tr>\n", label,
            hc_get_text(node, "name"), hc_get_text(node, "sha256"));
}

static void put_inputs(const struct job *p)
{
    const cJSON *input;
    char size[64];
    int shown = 0;
    cJSON_ArrayForEach(input, hc_get(p->m, "inputs"))
    {
        if (shown++ == MAX_ROWS)
            break;
        hc_html(p->out,
                "<tr><th scope=\"row\">Input %s</th><td>%s, %s <code class=\"hash\">%s</code></td></tr>\n",
                hc_get_text(input, "name"), hc_get_text(input, "file"),
                hc_html_size(hc_get_number(input, "bytes"), size), hc_get_text(input, "sha256"));
    }
}

static void put_labels(const struct job *p)
{
    const cJSON *label;
    int shown = 0;
    cJSON_ArrayForEach(label, hc_get(p->m, "labels"))
    {
        if (!label->string || shown++ == MAX_ROWS)
            break;
        hc_html(p->out, "<tr><th scope=\"row\">Label %s</th><td>%s</td></tr>\n", label->string,
                cJSON_IsString(label) ? label->valuestring : "");
    }
}

static void put_origin(struct job *p)
{
    put(p, "<table class=\"pairs\"><tbody>\n");
    put_pair(p, "Started", text(p, "started"));
    put_pair(p, "Finished", text(p, "finished"));
    if (*text(p, "tenant"))
        put_pair(p, "Tenant", text(p, "tenant"));
    put_labels(p);
    put_identity(p, "policy", "Policy");
    put_identity(p, "tree", "Tree");
    hc_html(p->out, "<tr><th scope=\"row\">Program</th><td><code class=\"hash\">%s</code></td></tr>\n",
            hc_get_text(hc_get(p->m, "code"), "sha256"));
    put_inputs(p);
    put_pair(p, "Signature",
             cJSON_IsObject(hc_get(p->m, "signature"))
                 ? "there is one, which was not checked here: hotcell verify"
                 : "not signed");
    put(p, "</tbody></table>\n");
}

static bool warnings_there(const struct job *p)
{
    return has(p, "warnings") || hc_get_length(p->guest, "warnings") > 0;
}

static void put_warnings_of(const struct job *p, const cJSON *list, bool said)
{
    const cJSON *w;
    int shown = 0;
    cJSON_ArrayForEach(w, list)
    {
        if (!cJSON_IsString(w) || shown++ == MAX_ROWS)
            continue;
        hc_html(p->out, "<li>%s%s</li>\n", w->valuestring, said ? " (said by the program)" : "");
    }
}

static void put_warnings(struct job *p)
{
    put(p, "<ul>\n");
    put_warnings_of(p, hc_get(p->m, "warnings"), false);
    put_warnings_of(p, hc_get(p->guest, "warnings"), true);
    put(p, "</ul>\n");
}

/* ---- the page ---- */

static const struct section {
    const char *id, *title;
    bool (*there)(const struct job *p);
    void (*put)(struct job *p);
} sections[] = {
    {"code", "Program", code_there, put_code},
    {"denials", "What was refused", denials_there, put_denials},
    {"warnings", "Warnings", warnings_there, put_warnings},
    {"runs", "Runs", runs_there, put_runs},
    {"tools", "Calls of tools", tools_there, put_tools},
    {"output", "Output", output_there, put_output},
    {"error", "Exception", error_there, put_error},
    {"value", "Value", value_there, put_value},
    {"results", "Results", results_there, put_results},
    {"figures", "Figures", figures_there, put_figures},
    {"usage", "What it took", usage_there, put_usage},
    {"files", "Files", files_there, put_files},
    {"layers", "Isolation", layers_there, put_layers},
    {"limits", "Limits", limits_there, put_limits},
    {"origin", "Where it came from", always, put_origin},
};
#define SECTIONS (sizeof sections / sizeof *sections)

static void put_nav(const struct job *p)
{
    put(p, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].there(p))
            hc_html(p->out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
    put(p, "</ul></nav>\n");
}

static void put_sections(struct job *p)
{
    put(p, "<main>\n");
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].there(p))
            continue;
        hc_html(p->out, "<section id=\"%s\"><h2>%s</h2>\n", sections[i].id, sections[i].title);
        sections[i].put(p);
        put(p, "</section>\n");
    }
    put(p, "</main>\n");
}

static void put_tiles(const struct job *p)
{
    const cJSON *usage = hc_get(p->m, "usage");
    char value[64];
    put(p, "<div class=\"tiles\">\n");
    hc_page_tile(p->out, hc_html_time(hc_get_number(usage, "wall"), value), "by the clock");
    hc_page_tile(p->out,
                 hc_html_time(hc_get_number(usage, "cpu_user") + hc_get_number(usage, "cpu_system"), value),
                 "processor");
    hc_page_tile(p->out, hc_html_size(hc_get_number(usage, "memory_peak"), value), "memory, at most");
    const struct {
        const char *member, *one, *more;
    } counts[] = {{"denials", "refusal", "refusals"},
                  {"figures", "figure", "figures"},
                  {"files", "other file", "other files"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int n = hc_get_length(p->m, counts[i].member);
        (void)snprintf(value, sizeof value, "%d", n);
        hc_page_tile(p->out, value, n == 1 ? counts[i].one : counts[i].more);
    }
    put(p, "</div>\n");
}

static void put_head(const struct job *p)
{
    put(p, "<header><p class=\"brand\">hotcell report</p>\n");
    hc_html(p->out, "<h1>%s</h1>\n<p class=\"verdict\">", text(p, "job_id"));
    hc_page_badge(p->out, text(p, "status"));
    hc_html(p->out, " %s", *text(p, "reason") ? text(p, "reason") : "The program ended well.");
    if (cJSON_IsTrue(hc_get(p->m, "partial")))
        put(p, " <span class=\"badge limit\">partial results</span>");
    put(p, "</p>\n");
    put_tiles(p);
    put(p, "</header>\n");
}

bool hc_report_lists(const cJSON *manifest, const char *path)
{
    static const char *const lists[] = {"files", "figures"};
    const cJSON *entry;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        cJSON_ArrayForEach(entry, hc_get(manifest, lists[i]))
        {
            if (strcmp(hc_get_text(entry, "path"), path) == 0)
                return true;
        }
    return false;
}

/* ---- reading ---- */

static int check_manifest(const struct hc_json *j, struct hc_error *err)
{
    const cJSON *version = hc_get(j->root, "version");
    if (!cJSON_IsObject(j->root) || !cJSON_IsNumber(version) || !cJSON_IsString(hc_get(j->root, "status")) ||
        !cJSON_IsString(hc_get(j->root, "job_id")))
        return hc_json_fail(j, j->root, false, err, "expected a manifest, with version, job_id and status");
    if (version->valuedouble != HC_MANIFEST_VERSION)
        return hc_json_fail(j, version, false, err, "version: expected %d", HC_MANIFEST_VERSION);
    return 0;
}

static int take_given(struct job *p, const struct hc_report_job *job, struct hc_error *err)
{
    p->code = hc_kept_program(job->code, job->code_len, &p->code_len);
    if (!hc_kept_is(p->code, p->code_len, hc_get_text(hc_get(p->m, "code"), "sha256")))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not the program of this job: its SHA-256 is another one",
                          job->code_name);
    return 0;
}

static void take_kept(struct job *p)
{
    struct hc_error ignored;
    const char *path = text(p, "code_path");
    if (!*path || p->files->read(p->files->context, path, MAX_CODE, &p->kept, &ignored) < 0)
        return;
    p->code = hc_kept_program(p->kept.data ? p->kept.data : "", p->kept.len, &p->code_len);
    p->changed = !hc_kept_is(p->code, p->code_len, hc_get_text(hc_get(p->m, "code"), "sha256"));
}

int hc_report_job(const struct hc_report_job *job, struct hc_buf *out, struct hc_error *err)
{
    const struct hc_json *j = job->manifest;
    if (check_manifest(j, err) < 0)
        return -1;
    struct job p = {.j = j,
                    .m = j->root,
                    .guest = hc_get(j->root, "guest"),
                    .files = &job->files,
                    .out = out,
                    .room = HC_IMAGES_MAX};
    if (job->code && take_given(&p, job, err) < 0)
        return -1;
    if (!job->code)
        take_kept(&p);
    hc_page_begin(out, &(struct hc_page){.title = text(&p, "job_id"), .sub = text(&p, "status")});
    put_head(&p);
    put(&p, "<div class=\"body\">\n");
    put_nav(&p);
    put_sections(&p);
    put(&p, "</div>\n");
    hc_page_end(out);
    hc_buf_finish(&p.kept);
    return out->failed ? hc_fail(err, ENOMEM, "make the page") : 0;
}
