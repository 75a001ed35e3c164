/* What a job's page shows of what came out. */
#include "report/job_parts.h"

#include "base/hash.h"
#include "report/image.h"
#include "report/value.h"
#include "spec/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OUTPUT   ((size_t)256 << 10) /* of a stream on the page */
#define MAX_FIGURES  200
#define MAX_RETURNED 50

/* ---- what came out ---- */

static bool output_there(const struct hc_job_page *p)
{
    return *hc_get_text(hc_get(p->m, "stdout"), "text") || *hc_get_text(hc_get(p->m, "stderr"), "text") ||
           hc_get_count(hc_get(p->m, "stdout"), "bytes") || hc_get_count(hc_get(p->m, "stderr"), "bytes");
}

static void put_stream(const struct hc_job_page *p, const char *name, const char *title)
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

static void put_output(struct hc_job_page *p)
{
    put_stream(p, "stdout", "Standard output");
    put_stream(p, "stderr", "Standard error");
}

static bool error_there(const struct hc_job_page *p)
{
    return cJSON_IsObject(hc_get(p->guest, "error"));
}

static void put_error(struct hc_job_page *p)
{
    const cJSON *error = hc_get(p->guest, "error");
    hc_job_said(p);
    hc_html(p->out, "<p><b>%s</b>: %s</p>\n", hc_get_text(error, "type"), hc_get_text(error, "message"));
    hc_value_put_text(p->out, hc_get_text(error, "traceback"), MAX_OUTPUT);
}

static bool value_there(const struct hc_job_page *p)
{
    return cJSON_IsObject(hc_get(p->guest, "value"));
}

static void put_value(struct hc_job_page *p)
{
    hc_job_said(p);
    hc_value_put_bundle(p->out, p->j, hc_get(p->guest, "value"), &p->room);
}

static bool results_there(const struct hc_job_page *p)
{
    return hc_get_length(p->guest, "results") > 0 || hc_get_length(p->guest, "returned") > 0;
}

static void put_returned(const struct hc_job_page *p, const cJSON *r)
{
    const cJSON *json = hc_get(r, "json");
    hc_html(p->out, "<h3><code>%s</code> <span class=\"muted\">%s %s %s</span></h3>\n", r->string,
            hc_get_text(r, "type"), hc_get_text(r, "path"), hc_get_text(r, "error"));
    if (json)
        hc_value_put_json(p->out, p->j, json);
}

static void put_results(struct hc_job_page *p)
{
    const cJSON *r, *returned = hc_get(p->guest, "returned");
    int shown = 0;
    hc_job_said(p);
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

static int read_listed(const struct hc_job_page *p, const cJSON *entry, struct hc_buf *out,
                       struct hc_error *err)
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

static void put_picture(struct hc_job_page *p, const cJSON *figure)
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

static bool figures_there(const struct hc_job_page *p)
{
    return has(p, "figures");
}

static void put_figures(struct hc_job_page *p)
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

static bool files_there(const struct hc_job_page *p)
{
    return has(p, "files") || hc_get_length(hc_get(p->m, "skipped"), "entries") > 0;
}

static void put_files(struct hc_job_page *p)
{
    const cJSON *f, *skipped = hc_get(p->m, "skipped");
    char size[64];
    int shown = 0;
    hc_job_begin_table(p, "<th>File</th><th>Size</th><th>SHA-256, or why it was not kept</th>");
    cJSON_ArrayForEach(f, hc_get(p->m, "files"))
    {
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(
            p->out, "<tr><td>%s</td><td class=\"num\">%s</td><td><code class=\"hash\">%s</code></td></tr>\n",
            hc_get_text(f, "path"), hc_html_size(hc_get_number(f, "bytes"), size), hc_get_text(f, "sha256"));
    }
    shown = 0;
    cJSON_ArrayForEach(f, hc_get(skipped, "entries"))
    {
        if (shown++ == HC_JOB_MAX_ROWS)
            break;
        hc_html(p->out, "<tr class=\"off\"><td>%s</td><td class=\"num\">\xe2\x80\x93</td><td>%s</td></tr>\n",
                hc_get_text(f, "path"), hc_get_text(f, "reason"));
    }
    hc_job_end_table(p, hc_get_length(p->m, "files"));
    if (hc_get_count(skipped, "more"))
        hc_html(p->out, "<p class=\"muted\">And %ld more that were not kept.</p>\n",
                hc_get_count(skipped, "more"));
}

/* ---- the sections ---- */

const struct hc_job_section hc_job_output = {"output", "Output", output_there, put_output};
const struct hc_job_section hc_job_error = {"error", "Exception", error_there, put_error};
const struct hc_job_section hc_job_value = {"value", "Value", value_there, put_value};
const struct hc_job_section hc_job_results = {"results", "Results", results_there, put_results};
const struct hc_job_section hc_job_figures = {"figures", "Figures", figures_there, put_figures};
const struct hc_job_section hc_job_files = {"files", "Files", files_there, put_files};
