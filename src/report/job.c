/* The page of one job. */
#include "report/report.h"

#include "report/image.h"
#include "report/job_parts.h"
#include "report/page.h"
#include "spec/kept.h"
#include "spec/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_CODE ((size_t)4 << 20)

/* ---- rows of our own tables ---- */

void hc_job_begin_table(const struct hc_job_page *p, const char *head)
{
    put(p, "<div class=\"wide\"><table><thead><tr>");
    put(p, head);
    put(p, "</tr></thead><tbody>\n");
}

void hc_job_end_table(const struct hc_job_page *p, int count)
{
    char rows[64];
    put(p, "</tbody></table></div>\n");
    if (count > HC_JOB_MAX_ROWS)
        hc_html(p->out, "<p class=\"muted\">And %s that %s not shown.</p>\n",
                hc_html_count(count - HC_JOB_MAX_ROWS, "more", "more", rows),
                count - HC_JOB_MAX_ROWS == 1 ? "is" : "are");
}

void hc_job_pair(const struct hc_job_page *p, const char *name, const char *value)
{
    hc_html(p->out, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name, value);
}

void hc_job_said(const struct hc_job_page *p)
{
    put(p, "<p class=\"said-all\">Said by the program's own process: as trustworthy as the program.</p>\n");
}

/* ---- the page ---- */

static const struct hc_job_section *const sections[] = {
    &hc_job_code,    &hc_job_denials, &hc_job_warnings, &hc_job_runs,
    &hc_job_tools,   &hc_job_output,  &hc_job_error,    &hc_job_value,
    &hc_job_results, &hc_job_figures, &hc_job_usage,    &hc_job_files,
    &hc_job_layers,  &hc_job_limits,  &hc_job_origin,   NULL,
};

static void put_nav(const struct hc_job_page *p)
{
    put(p, "<nav aria-label=\"Sections\"><ul>\n");
    for (const struct hc_job_section *const *s = sections; *s; s++)
        if ((*s)->there(p))
            hc_html(p->out, "<li><a href=\"#%s\">%s</a></li>\n", (*s)->id, (*s)->title);
    put(p, "</ul></nav>\n");
}

static void put_sections(struct hc_job_page *p)
{
    put(p, "<main>\n");
    for (const struct hc_job_section *const *s = sections; *s; s++) {
        if (!(*s)->there(p))
            continue;
        hc_html(p->out, "<section id=\"%s\"><h2>%s</h2>\n", (*s)->id, (*s)->title);
        (*s)->put(p);
        put(p, "</section>\n");
    }
    put(p, "</main>\n");
}

static void put_tiles(const struct hc_job_page *p)
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

static void put_head(const struct hc_job_page *p)
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

static int take_given(struct hc_job_page *p, const struct hc_report_job *job, struct hc_error *err)
{
    p->code = hc_kept_program(job->code, job->code_len, &p->code_len);
    if (!hc_kept_is(p->code, p->code_len, hc_get_text(hc_get(p->m, "code"), "sha256")))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not the program of this job: its SHA-256 is another one",
                          job->code_name);
    return 0;
}

static void take_kept(struct hc_job_page *p)
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
    struct hc_job_page p = {.j = j,
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
