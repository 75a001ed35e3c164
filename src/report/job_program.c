/* What a job's page says of the program, and of what it was not let do. */
#include "report/job_parts.h"

#include "report/code.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MARKS 1000

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
static void add_denials(const struct hc_job_page *p, struct hc_mark *marks, size_t *count)
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
static void add_error(const struct hc_job_page *p, struct hc_mark *marks, size_t *count)
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

static struct hc_mark *collect_marks(const struct hc_job_page *p, size_t *count)
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

static bool code_there(const struct hc_job_page *p)
{
    return p->code || cJSON_IsObject(hc_get(p->m, "code"));
}

static void put_marks_alone(const struct hc_job_page *p, const struct hc_mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (marks[i].line)
            hc_html(p->out, "<p class=\"at\">Line %ld</p>\n", marks[i].line);
        hc_code_put_note(p->out, &marks[i]);
    }
}

static void put_code(struct hc_job_page *p)
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

static bool denials_there(const struct hc_job_page *p)
{
    return has(p, "denials");
}

/* Of the kernel and of tools, what is not attested was refused to a session's process, which other programs
 * have run in. */
static const char *whose(const cJSON *denial)
{
    const char *layer = hc_get_text(denial, "layer");
    if (cJSON_IsTrue(hc_get(denial, "attested")))
        return "";
    return strcmp(layer, "seccomp") == 0 || strcmp(layer, "tool") == 0 ? " (of the session's process)"
                                                                       : " (said by the program)";
}

static void put_denials(struct hc_job_page *p)
{
    const cJSON *d;
    int shown = 0;
    hc_job_begin_table(p,
                       "<th>Line</th><th>Layer</th><th>Rule</th><th>What</th><th>Times</th><th>Instead</th>");
    cJSON_ArrayForEach(d, hc_get(p->m, "denials"))
    {
        long line = hc_get_count(d, "line");
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        put(p, "<tr><td class=\"num\">");
        if (line)
            hc_page_line(p->out, p->code ? "L" : NULL, line);
        hc_html(p->out,
                "</td><td>%s%s</td><td>%s</td><td><code>%s</code></td><td "
                "class=\"num\">%ld</td><td>%s</td></tr>\n",
                hc_get_text(d, "layer"), whose(d), hc_get_text(d, "rule"), hc_get_text(d, "what"),
                hc_get_count(d, "count"), hc_get_text(d, "hint"));
    }
    hc_job_end_table(p, hc_get_length(p->m, "denials"));
}

static bool tools_there(const struct hc_job_page *p)
{
    return has(p, "tools");
}

static void put_tools(struct hc_job_page *p)
{
    const cJSON *t;
    char wall[64];
    int shown = 0;
    hc_job_begin_table(p, "<th>Tool</th><th>Arguments</th><th>Outcome</th><th>Took</th>");
    cJSON_ArrayForEach(t, hc_get(p->m, "tools"))
    {
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out,
                "<tr><td>%s</td><td><code>%s</code></td><td>%s <span class=\"muted\">%s</span></td><td "
                "class=\"num\">%s</td></tr>\n",
                hc_get_text(t, "name"), hc_get_text(t, "arguments"), hc_get_text(t, "status"),
                hc_get_text(t, "message"), hc_html_time(hc_get_number(t, "wall"), wall));
    }
    hc_job_end_table(p, hc_get_length(p->m, "tools"));
}

static bool runs_there(const struct hc_job_page *p)
{
    return has(p, "runs");
}

static void put_runs(struct hc_job_page *p)
{
    const cJSON *r;
    int shown = 0;
    hc_job_begin_table(p, "<th>Run</th><th>Job</th><th>Status</th><th>State</th><th>Reason</th>");
    cJSON_ArrayForEach(r, hc_get(p->m, "runs"))
    {
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out, "<tr><td class=\"num\">%ld</td><td>%s</td><td>", hc_get_count(r, "run"),
                hc_get_text(r, "job_id"));
        hc_page_badge(p->out, hc_get_text(r, "status"));
        hc_html(p->out, "</td><td>%s</td><td>%s</td></tr>\n", hc_get_text(r, "state"),
                hc_get_text(r, "reason"));
    }
    hc_job_end_table(p, hc_get_length(p->m, "runs"));
}

static bool warnings_there(const struct hc_job_page *p)
{
    return has(p, "warnings") || hc_get_length(p->guest, "warnings") > 0;
}

static void put_warnings_of(const struct hc_job_page *p, const cJSON *list, bool said)
{
    const cJSON *w;
    int shown = 0;
    cJSON_ArrayForEach(w, list)
    {
        if (!cJSON_IsString(w) || shown++ == HC_JOB_MAX_ROWS)
            continue;
        hc_html(p->out, "<li>%s%s</li>\n", w->valuestring, said ? " (said by the program)" : "");
    }
}

static void put_warnings(struct hc_job_page *p)
{
    put(p, "<ul>\n");
    put_warnings_of(p, hc_get(p->m, "warnings"), false);
    put_warnings_of(p, hc_get(p->guest, "warnings"), true);
    put(p, "</ul>\n");
}

/* ---- the sections ---- */

const struct hc_job_section hc_job_code = {"code", "Program", code_there, put_code};
const struct hc_job_section hc_job_denials = {"denials", "What was refused", denials_there, put_denials};
const struct hc_job_section hc_job_warnings = {"warnings", "Warnings", warnings_there, put_warnings};
const struct hc_job_section hc_job_runs = {"runs", "Runs", runs_there, put_runs};
const struct hc_job_section hc_job_tools = {"tools", "Calls of tools", tools_there, put_tools};
