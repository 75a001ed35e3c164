/* page.h - what all pages have in common: one file that loads nothing, runs nothing but what we wrote, and is
 * to be read without that too. */
#ifndef HC_REPORT_PAGE_H
#define HC_REPORT_PAGE_H

#include "base/buf.h"

/* How every page begins. A program can write a file that begins so, too. */
#define HC_PAGE_MARK "<!DOCTYPE html>\n<!-- hotcell report -->\n"

struct hc_page {
    const char *title, *sub; /* of the tab: "title - sub" */
    bool sortable;           /* tables that have the class "sort" can be sorted */
};

void hc_page_begin(struct hc_buf *out, const struct hc_page *page);
void hc_page_end(struct hc_buf *out);

/* The class that gives a job's status its colour: one of four, "unknown" for what is none. */
const char *hc_page_status_class(const char *status);
void hc_page_badge(struct hc_buf *out, const char *status);

/* The number of a line, which leads to where that is on the page: its id begins with `id`. NULL: nowhere. */
void hc_page_line(struct hc_buf *out, const char *id, long line);

/* A number with what it is of. */
void hc_page_tile(struct hc_buf *out, const char *value, const char *label);

#endif
