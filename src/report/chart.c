#include "report/chart.h"

#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <sys/param.h>

/* The drawings are stretched to the width that there is, so that what is written stands beside them. */
#define WIDTH  1000.0
#define HEIGHT 200.0
#define DRAWN  164.0 /* of the height: what is largest is written above it */

char *hc_chart_number(double value, char out[64])
{
    (void)snprintf(out, 64,
                   value < 10 && value != floor(value) ? "%.1f"
                   : value < 1e9                       ? "%.0f"
                                                       : "%.3g",
                   value);
    return out;
}

static void begin(struct hc_buf *out, const char *title, const char *top)
{
    hc_html(
        out,
        "<figure class=\"chart\"><figcaption>%s</figcaption><div class=\"plot\"><span class=\"top\">%s</span>"
        "<svg viewBox=\"0 0 1000 200\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s\">",
        title, top, title);
}

static void end(struct hc_buf *out, const char *left, const char *right)
{
    hc_html(out, "</svg><span class=\"base\"><span>%s</span><span>%s</span></span></div></figure>\n", left,
            right);
}

/* ---- lines ---- */

struct scale {
    double x, y; /* what the whole width and height stand for */
};

static double at_x(const struct scale *s, double x)
{
    return MAX(0.0, MIN(1.0, x / s->x)) * WIDTH;
}

static double at_y(const struct scale *s, double y)
{
    return HEIGHT - MAX(0.0, MIN(1.0, y / s->y)) * DRAWN;
}

static void put_path(struct hc_buf *out, const struct hc_line_chart *c, const struct scale *s)
{
    for (size_t i = 0; i < c->count; i++)
        hc_html(out, "%s%.1f %.1f", i ? "L" : "M", at_x(s, c->points[i].x), at_y(s, c->points[i].y));
}

/* What a pointer over the drawing is told. */
static void put_tips(struct hc_buf *out, const struct hc_line_chart *c, const struct scale *s)
{
    char x[64], y[64];
    for (size_t i = 0; i < c->count; i++) {
        double from = i ? (c->points[i - 1].x + c->points[i].x) / 2 : 0;
        double to = i + 1 < c->count ? (c->points[i].x + c->points[i + 1].x) / 2 : s->x;
        hc_html(out,
                "<rect class=\"tip\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"200\"><title>%s: "
                "%s</title></rect>",
                at_x(s, from), at_x(s, to) - at_x(s, from), hc_html_time(c->points[i].x, x),
                c->format(c->points[i].y, y));
    }
}

void hc_chart_line(struct hc_buf *out, const struct hc_line_chart *c)
{
    double most = 0;
    for (size_t i = 0; i < c->count; i++)
        most = MAX(most, c->points[i].y);
    if (!c->count || !(most > 0) || !(c->until > 0))
        return;
    bool marked = c->ceiling > 0 && c->ceiling <= most * 4;
    const struct scale s = {.x = c->until, .y = marked ? MAX(most, c->ceiling) : most};
    char top[64], right[64];
    begin(out, c->title, c->format(s.y, top));
    (void)hc_buf_str(out, "<path class=\"area\" d=\"");
    put_path(out, c, &s);
    hc_html(out, "L%.1f 200L%.1f 200Z\"/><path class=\"line\" d=\"", at_x(&s, c->points[c->count - 1].x),
            at_x(&s, c->points[0].x));
    put_path(out, c, &s);
    (void)hc_buf_str(out, "\"/>");
    if (marked)
        hc_html(out, "<path class=\"ceiling\" d=\"M0 %.1fH1000\"><title>%s</title></path>",
                at_y(&s, c->ceiling), c->ceiling_name);
    put_tips(out, c, &s);
    end(out, "0", hc_html_time(s.x, right));
}

/* ---- bars ---- */

#define BINS 24

struct bins {
    double least, factor;
    size_t in[BINS], most, used;
};

static size_t bin_of(const struct bins *b, double value)
{
    if (!(value > b->least) || b->used == 1)
        return 0;
    double n = log(value / b->least) / log(b->factor);
    return MIN((size_t)n, b->used - 1);
}

static void fill(struct bins *b, const struct hc_histogram *c)
{
    double least = INFINITY, most = 0;
    *b = (struct bins){.used = 1, .factor = 1};
    for (size_t i = 0; i < c->count; i++) {
        if (c->values[i] > 0) {
            least = MIN(least, c->values[i]);
            most = MAX(most, c->values[i]);
        }
    }
    b->least = isfinite(least) ? least : 0;
    if (b->least > 0 && most > b->least * 1.01) {
        b->used = BINS;
        b->factor = pow(most / b->least, 1.0 / BINS);
    }
    for (size_t i = 0; i < c->count; i++) {
        size_t n = bin_of(b, c->values[i]);
        b->in[n]++;
        b->most = MAX(b->most, b->in[n]);
    }
}

void hc_chart_histogram(struct hc_buf *out, const struct hc_histogram *c)
{
    struct bins b;
    char from[64], to[64], jobs[64];
    if (!c->count)
        return;
    fill(&b, c);
    begin(out, c->title, hc_html_count((long)b.most, "job", "jobs", jobs));
    double width = WIDTH / (double)b.used;
    for (size_t i = 0; i < b.used; i++) {
        double height = (double)b.in[i] / (double)b.most * DRAWN;
        if (b.in[i])
            hc_html(out,
                    "<rect class=\"bin\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                    "<title>%s, %s to %s</title></rect>",
                    (double)i * width + width * 0.06, HEIGHT - height, width * 0.88, height,
                    hc_html_count((long)b.in[i], "job", "jobs", jobs),
                    c->format(b.least * pow(b.factor, (double)i), from),
                    c->format(b.least * pow(b.factor, (double)i + 1), to));
    }
    end(out, c->format(b.least, from), c->format(b.least * pow(b.factor, (double)b.used), to));
}

void hc_chart_bar(struct hc_buf *out, const char *class, double part, double whole)
{
    double share = whole > 0 ? MAX(0.0, MIN(1.0, part / whole)) : 0;
    hc_html(out,
            "<svg class=\"bar %s\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            "<rect width=\"%.1f\" height=\"10\"/></svg>",
            class, share > 0 ? MAX(share * WIDTH, 3.0) : 0.0);
}
