/* Any bytes as a manifest, as the program and as each of its figures: what comes out is a page, in which
 * nothing of them is markup. */
#include "base/utf8.h"
#include "report/page.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct bytes {
    const char *data;
    size_t len;
};

static int read_same(void *context, const char *path, size_t max, struct hc_buf *out, struct hc_error *err)
{
    const struct bytes *bytes = context;
    (void)path;
    (void)max;
    return hc_buf_add(out, bytes->data, bytes->len) < 0 ? hc_fail(err, 0, "no room") : 0;
}

/* No element but ours: none of these is in any page of a job. */
static void check_page(const struct hc_buf *page)
{
    static const char *const never[] = {"<script", "<iframe",    "<object",
                                        "<svg/",   "onerror=\"", "javascript:\""};
    require(strncmp(page->data, HC_PAGE_MARK, strlen(HC_PAGE_MARK)) == 0);
    require(hc_utf8_valid(page->data, page->len, NULL));
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        require(strstr(page->data, never[i]) == NULL);
}

static bool has_page(void *context, const char *job_id, bool owns)
{
    (void)context;
    return !owns && *job_id;
}

/* Line by line, as results or as a journal; of a batch's page the only script is ours. */
static void make_batch(const char *text, size_t len)
{
    hc_autobuf page = {0};
    struct hc_error err;
    struct hc_report_batch *b = hc_report_batch_new();
    require(b != NULL);
    for (size_t at = 0, n; at < len; at += n + 1) {
        const char *end = memchr(text + at, '\n', len - at);
        n = end ? (size_t)(end - (text + at)) : len - at;
        (void)hc_report_batch_line(b, "b", 1, text + at, n, &err);
    }
    require(hc_report_batch_page(b, "batch", has_page, NULL, &page, &err) == 0);
    hc_report_batch_free(b);
    char *script = strstr(page.data, "<script");
    require(script && !strstr(script + 1, "<script"));
    memset(script, ' ', strlen("<script"));
    check_page(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_json j;
    struct hc_error err;
    hc_autobuf page = {0};
    const char *text = (const char *)data;
    struct bytes bytes = {text, len};
    make_batch(text, len);
    if (hc_json_parse(&j, "m", text, len, &err) < 0)
        return 0;
    struct hc_report_job job = {.manifest = &j, .files = {.read = read_same, .context = &bytes}};
    if (hc_report_job(&job, &page, &err) == 0)
        check_page(&page);
    hc_json_finish(&j);
    return 0;
}
