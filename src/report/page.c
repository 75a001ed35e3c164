#include "report/page.h"

#include "report/html.h"

#include <sodium/crypto_hash_sha256.h>
#include <string.h>

static const char style[] = {
#include "style.inc"
};
static const char script[] = {
#include "sort.inc"
};

/* The browser takes a style or a script only if this is its hash: none that came in with a job. */
static void put_source(struct hc_buf *out, const char *kind, const char *text, size_t len)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(digest, (const unsigned char *)text, len);
    hc_html(out, "; %s-src 'sha256-", kind);
    hc_html_base64(out, digest, sizeof digest);
    (void)hc_buf_str(out, "'");
}

static void put_policy(struct hc_buf *out, const struct hc_page *page)
{
    (void)hc_buf_str(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                          "img-src data:; base-uri 'none'; form-action 'none'");
    put_source(out, "style", style, sizeof style);
    if (page->sortable)
        put_source(out, "script", script, sizeof script);
    (void)hc_buf_str(out, "\">\n");
}

void hc_page_begin(struct hc_buf *out, const struct hc_page *page)
{
    (void)hc_buf_str(out, HC_PAGE_MARK "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_policy(out, page);
    hc_html(out,
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta name=\"generator\" content=\"hotcell " HC_VERSION "\">\n"
            "<title>%s - %s</title>\n<style>",
            page->title, page->sub);
    (void)hc_buf_add(out, style, sizeof style);
    (void)hc_buf_str(out, "</style>\n");
    if (page->sortable) {
        (void)hc_buf_str(out, "<script type=\"module\">");
        (void)hc_buf_add(out, script, sizeof script);
        (void)hc_buf_str(out, "</script>\n");
    }
    (void)hc_buf_str(out, "</head>\n<body>\n");
}

void hc_page_end(struct hc_buf *out)
{
    (void)hc_buf_str(out, "<footer>Made by hotcell " HC_VERSION
                          ". All that came out of a program is shown as text or as a picture.</footer>\n"
                          "</body>\n</html>\n");
}

const char *hc_page_status_class(const char *status)
{
    static const struct {
        const char *status, *class;
    } classes[] = {
        {"ok", "good"},       {"error", "bad"},     {"launch_failed", "bad"}, {"invalid", "bad"},
        {"rejected", "held"}, {"timeout", "limit"}, {"cpu", "limit"},         {"memory", "limit"},
        {"pids", "limit"},    {"output", "limit"},  {"killed", "limit"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].status, status) == 0)
            return classes[i].class;
    return "unknown";
}

void hc_page_badge(struct hc_buf *out, const char *status)
{
    hc_html(out, "<span class=\"badge %s\">%s</span>", hc_page_status_class(status), status);
}

void hc_page_line(struct hc_buf *out, const char *id, long line)
{
    if (id)
        hc_html(out, "<a href=\"#%s%ld\">%ld</a>", id, line, line);
    else
        hc_html(out, "%ld", line);
}

void hc_page_tile(struct hc_buf *out, const char *value, const char *label)
{
    hc_html(out, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", value, label);
}
