/* What a job's page says of the job: what it took, what held it, where it came from. */
#include "report/job_parts.h"

#include "base/units.h"
#include "report/chart.h"
#include "spec/options.h"
#include "spec/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

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

static void put_series(const struct hc_job_page *p, const char *name, const char *title, bool rate,
                       double ceiling, hc_chart_format *format)
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

static bool usage_there(const struct hc_job_page *p)
{
    return has(p, "usage");
}

static void put_timing(const struct hc_job_page *p)
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

static void put_usage(struct hc_job_page *p)
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
            hc_job_pair(p, usage_rows[i].label,
                        usage_rows[i].format(hc_get_number(usage, usage_rows[i].name), value));
    put(p, "</tbody></table>\n");
}

/* ---- what held it ---- */

static bool layers_there(const struct hc_job_page *p)
{
    return has(p, "layers");
}

static void put_layers(struct hc_job_page *p)
{
    const cJSON *layer;
    int shown = 0;
    hc_job_begin_table(p, "<th>Layer</th><th></th><th>How it was checked</th>");
    cJSON_ArrayForEach(layer, hc_get(p->m, "layers"))
    {
        bool on = cJSON_IsTrue(hc_get(layer, "on"));
        if (!layer->string || shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out, "<tr%s><td>%s</td><td><span class=\"badge %s\">%s</span></td><td>%s</td></tr>\n",
                on ? "" : " class=off", layer->string, on ? "good" : "bad", on ? "on" : "off",
                hc_get_text(layer, "evidence"));
    }
    hc_job_end_table(p, hc_get_length(p->m, "layers"));
}

static bool limits_there(const struct hc_job_page *p)
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

static void put_limit(const struct hc_job_page *p, const cJSON *limit, const char *by)
{
    char path[128], number[64];
    (void)snprintf(path, sizeof path, "limits.%.100s", limit->string);
    const struct hc_option *opt = hc_option_by_path(path);
    hc_html(p->out, "<tr><td title=\"%s\">%s</td><td class=\"num\">%s</td><td>%s</td></tr>\n",
            opt ? opt->help : "", limit->string, limit_text(opt, limit, number), by);
}

static void put_limits(struct hc_job_page *p)
{
    const cJSON *limit, *limits = hc_get(p->m, "limits");
    int shown = 0;
    hc_job_begin_table(p, "<th>Limit</th><th>Value</th><th>Enforced by</th>");
    cJSON_ArrayForEach(limit, limits)
    {
        if (!limit->string || cJSON_IsObject(limit) || shown++ == HC_JOB_MAX_ROWS)
            continue;
        put_limit(p, limit, hc_get_text(hc_get(limits, "enforced_by"), limit->string));
    }
    hc_job_end_table(p, 0);
}

/* ---- where it came from ---- */

static bool always(const struct hc_job_page *p)
{
    (void)p;
    return true;
}

static void put_identity(const struct hc_job_page *p, const char *member, const char *label)
{
    const cJSON *node = hc_get(p->m, member);
    const char *sha256 = hc_get_text(node, "sha256"), *base = hc_get_text(node, "base_sha256");
    hc_html(p->out, "<tr><th scope=\"row\">%s</th><td>%s <code class=\"hash\">%s</code></td></tr>\n", label,
            hc_get_text(node, "name"), sha256);
    if (*base && strcmp(base, sha256) != 0)
        hc_html(p->out,
                "<tr><th scope=\"row\">%s before the job changed it</th><td><code "
                "class=\"hash\">%s</code></td></tr>\n",
                label, base);
}

static void put_inputs(const struct hc_job_page *p)
{
    const cJSON *input;
    char size[64];
    int shown = 0;
    cJSON_ArrayForEach(input, hc_get(p->m, "inputs"))
    {
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out,
                "<tr><th scope=\"row\">Input %s</th><td>%s, %s <code class=\"hash\">%s</code></td></tr>\n",
                hc_get_text(input, "name"), hc_get_text(input, "file"),
                hc_html_size(hc_get_number(input, "bytes"), size), hc_get_text(input, "sha256"));
    }
}

static void put_labels(const struct hc_job_page *p)
{
    const cJSON *label;
    int shown = 0;
    cJSON_ArrayForEach(label, hc_get(p->m, "labels"))
    {
        if (!label->string || shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out, "<tr><th scope=\"row\">Label %s</th><td>%s</td></tr>\n", label->string,
                cJSON_IsString(label) ? label->valuestring : "");
    }
}

static void put_origin(struct hc_job_page *p)
{
    put(p, "<table class=\"pairs\"><tbody>\n");
    hc_job_pair(p, "Started", text(p, "started"));
    hc_job_pair(p, "Finished", text(p, "finished"));
    if (*text(p, "tenant"))
        hc_job_pair(p, "Tenant", text(p, "tenant"));
    put_labels(p);
    put_identity(p, "policy", "Policy");
    put_identity(p, "tree", "Tree");
    hc_html(p->out, "<tr><th scope=\"row\">Program</th><td><code class=\"hash\">%s</code></td></tr>\n",
            hc_get_text(hc_get(p->m, "code"), "sha256"));
    put_inputs(p);
    hc_job_pair(p, "Signature",
                cJSON_IsObject(hc_get(p->m, "signature"))
                    ? "there is one, which was not checked here: hotcell verify"
                    : "not signed");
    put(p, "</tbody></table>\n");
}

/* ---- the sections ---- */

const struct hc_job_section hc_job_usage = {"usage", "What it took", usage_there, put_usage};
const struct hc_job_section hc_job_layers = {"layers", "Isolation", layers_there, put_layers};
const struct hc_job_section hc_job_limits = {"limits", "Limits", limits_there, put_limits};
const struct hc_job_section hc_job_origin = {"origin", "Where it came from", always, put_origin};
