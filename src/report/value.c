#include "report/value.h"

#include "report/data.h"
#include "report/html.h"
#include "report/image.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define MAX_TEXT    ((size_t)64 << 10)
#define MAX_ROWS    200
#define MAX_COLUMNS 40
#define MAX_CELL    300
#define LARGE       ((size_t)4 << 20) /* a document */
#define MAX_FORMS   40

void hc_value_put_text(struct hc_buf *out, const char *text, size_t max)
{
    (void)hc_buf_str(out, "<pre><span>");
    hc_html_bounded(out, text, strlen(text), max);
    (void)hc_buf_str(out, "</span></pre>\n");
}

/* ---- tables ---- */

struct table {
    const char *columns[MAX_COLUMNS];
    size_t count, more; /* columns */
    const cJSON *rows;
    double total; /* rows that there are, as far as it is known */
};

static void put_number(struct hc_buf *out, double number)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.15g", number);
    hc_html(out, "<td class=\"num\">%s</td>", text);
}

static void put_cell(struct hc_buf *out, const cJSON *cell)
{
    if (cJSON_IsNumber(cell)) {
        put_number(out, cell->valuedouble);
        return;
    }
    (void)hc_buf_str(out, "<td>");
    if (cJSON_IsString(cell)) {
        (void)hc_buf_str(out, "<span>");
        hc_html_bounded(out, cell->valuestring, strlen(cell->valuestring), MAX_CELL);
        (void)hc_buf_str(out, "</span>");
    } else if (cJSON_IsBool(cell)) {
        (void)hc_buf_str(out, cJSON_IsTrue(cell) ? "true" : "false");
    } else if (cell && !cJSON_IsNull(cell)) {
        (void)hc_buf_str(out, cJSON_IsArray(cell) ? "[\xe2\x80\xa6]" : "{\xe2\x80\xa6}");
    }
    (void)hc_buf_str(out, "</td>");
}

static void put_row(struct hc_buf *out, const struct table *t, const cJSON *row)
{
    (void)hc_buf_str(out, "<tr>");
    for (size_t i = 0; i < t->count; i++)
        put_cell(out, hc_get(row, t->columns[i]));
    (void)hc_buf_str(out, "</tr>\n");
}

static void put_table(struct hc_buf *out, const struct table *t)
{
    char rows[64], columns[64];
    const cJSON *row;
    int shown = 0;
    (void)hc_buf_str(out, "<div class=\"wide\"><table class=\"data\"><thead><tr>");
    for (size_t i = 0; i < t->count; i++)
        hc_html(out, "<th class=\"%s\">%s</th>",
                cJSON_IsNumber(hc_get(t->rows->child, t->columns[i])) ? "num" : "", t->columns[i]);
    (void)hc_buf_str(out, "</tr></thead><tbody>\n");
    cJSON_ArrayForEach(row, t->rows)
    {
        if (shown++ == MAX_ROWS)
            break;
        put_row(out, t, row);
    }
    (void)hc_buf_str(out, "</tbody></table></div>\n");
    hc_html(out, "<p class=\"muted\">%s, %s",
            hc_html_count((long)(t->total < 9e15 ? t->total : 9e15), "row", "rows", rows),
            hc_html_count((long)(t->count + t->more), "column", "columns", columns));
    if (t->total > MIN(shown, MAX_ROWS))
        hc_html(out, ", of which the first %s are shown",
                hc_html_count(MIN(shown, MAX_ROWS), "row", "rows", rows));
    (void)hc_buf_str(out, "</p>\n");
}

static void add_column(struct table *t, const char *name)
{
    if (t->count < MAX_COLUMNS)
        t->columns[t->count++] = name;
    else
        t->more++;
}

/* The columns of the first row; every row has to be an object. */
static bool find_rows(struct table *t, const cJSON *node)
{
    const cJSON *row, *cell;
    if (!cJSON_IsArray(node) || !node->child)
        return false;
    *t = (struct table){.rows = node};
    cJSON_ArrayForEach(row, node)
    {
        if (!cJSON_IsObject(row))
            return false;
        t->total++;
    }
    cJSON_ArrayForEach(cell, node->child)
    {
        add_column(t, cell->string);
    }
    return t->count > 0;
}

/* The form of pandas' to_json(orient="table"), with the number of rows that there are. */
static bool find_resource(struct table *t, const cJSON *node)
{
    const cJSON *field, *fields = hc_get(hc_get(node, "schema"), "fields");
    *t = (struct table){.rows = hc_get(node, "data"), .total = hc_get_number(node, "rows")};
    if (!cJSON_IsArray(fields) || !cJSON_IsArray(t->rows))
        return false;
    cJSON_ArrayForEach(field, fields)
    {
        const char *name = hc_get_text(field, "name");
        if (*name)
            add_column(t, name);
    }
    if (!(t->total >= 0))
        t->total = cJSON_GetArraySize(t->rows);
    return t->count > 0;
}

/* ---- JSON ---- */

/* As it was written, with all digits of its numbers. To find that takes a walk through all of the document:
 * in a large one numbers are as they were read. */
static void put_indented(struct hc_buf *out, const struct hc_json *j, const cJSON *node)
{
    size_t len = 0;
    struct hc_error ignored;
    hc_autobuf text = {0};
    char *printed = j->len > LARGE ? cJSON_PrintUnformatted(node) : NULL;
    const char *source = printed ? printed : hc_json_source(j, node, &len);
    if (printed)
        len = strlen(printed);
    if (!source || hc_json_indent(source, len, &text, &ignored) < 0)
        out->failed = true;
    else
        hc_value_put_text(out, text.data ? text.data : "", MAX_TEXT);
    cJSON_free(printed);
}

void hc_value_put_json(struct hc_buf *out, const struct hc_json *j, const cJSON *node)
{
    struct table table;
    if (find_rows(&table, node))
        put_table(out, &table);
    else
        put_indented(out, j, node);
}

/* ---- bundles ---- */

static bool is(const cJSON *node, const char *mime)
{
    return strcmp(node->string, mime) == 0;
}

/* Returns false for what is not shown: another form of the same, or markup of the program's. */
static bool put_form(struct hc_buf *out, const struct hc_json *j, const cJSON *form, size_t *room)
{
    struct table table;
    const char *text = cJSON_GetStringValue(form);
    if (is(form, "application/vnd.dataresource+json") && find_resource(&table, form)) {
        put_table(out, &table);
    } else if (is(form, "application/json")) {
        hc_value_put_json(out, j, form);
    } else if (is(form, "image/svg+xml") && text) {
        hc_image_put(out, form->string, "the value", text, strlen(text), room);
    } else if (strncmp(form->string, "image/", 6) == 0 && text) {
        hc_image_put_base64(out, form->string, "the value", text, room);
    } else {
        return false;
    }
    return true;
}

void hc_value_put_bundle(struct hc_buf *out, const struct hc_json *j, const cJSON *bundle, size_t *room)
{
    const cJSON *form;
    hc_autobuf others = {0};
    int shown = 0;
    const char *plain = cJSON_GetStringValue(hc_get(bundle, "text/plain"));
    if (plain)
        hc_value_put_text(out, plain, MAX_TEXT);
    cJSON_ArrayForEach(form, bundle)
    {
        if (shown++ == MAX_FORMS)
            break;
        if (!is(form, "text/plain") && !put_form(out, j, form, room))
            hc_html(&others, "%s%s", others.len ? ", " : "", form->string);
    }
    if (others.len) {
        (void)hc_buf_str(out, "<p class=\"muted\">Forms that are not shown: ");
        (void)hc_buf_add(out, others.data, others.len);
        (void)hc_buf_str(out, ".</p>\n");
    }
}
