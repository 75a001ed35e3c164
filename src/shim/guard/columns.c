#include "shim/guard/columns.h"

#include "shim/guard/rules.h"
#include "shim/harness/text.h"

#include <stdlib.h>

#define ACCESSES_MAX 2048 /* uses that are kept; more are dropped */

/* Attributes of a DataFrame that are not methods, sorted: df.shape is no column. */
static const char *const attributes[] = {
    "T",    "at",    "attrs", "axes", "cat",  "columns", "dt",   "dtypes", "empty", "flags", "iat",
    "iloc", "index", "loc",   "ndim", "plot", "shape",   "size", "sparse", "str",   "style", "values"};

static int compare(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool is_attribute(const char *name)
{
    return name[0] == '_' ||
           bsearch(name, attributes, sizeof attributes / sizeof *attributes, sizeof *attributes, compare);
}

/* The frame that an expression names, borrowed from the rules; NULL if it names no frame of the job. */
static const char *frame_of(expr_ty e)
{
    const struct hc_names *frames = &hc_guard.code.frames;
    if (e->kind != Name_kind)
        return NULL;
    for (size_t i = 0; i < frames->count; i++)
        if (PyUnicode_CompareWithASCIIString(e->v.Name.id, frames->items[i]) == 0)
            return frames->items[i];
    return NULL;
}

static int add_access(struct hc_columns *all, const char *frame, PyObject *column, expr_ty where, bool made)
{
    const char *name = PyUnicode_Check(column) ? PyUnicode_AsUTF8(column) : NULL;
    PyErr_Clear(); /* a lone surrogate: no column has such a name */
    if (!name || all->count == ACCESSES_MAX)
        return 0;
    if (all->count == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        struct hc_access *more = reallocarray(all->items, cap, sizeof *more);
        if (!more)
            return -1;
        all->items = more;
        all->cap = cap;
    }
    all->items[all->count++] = (struct hc_access){
        .frame = frame, .column = name, .line = where->lineno, .at = where->col_offset, .made = made};
    return 0;
}

static int add_key(struct hc_columns *all, const char *frame, expr_ty key, bool made)
{
    return key->kind == Constant_kind ? add_access(all, frame, key->v.Constant.value, key, made) : 0;
}

static int add_subscript(struct hc_columns *all, expr_ty e, bool made)
{
    const char *frame = frame_of(e->v.Subscript.value);
    expr_ty key = e->v.Subscript.slice;
    if (!frame)
        return 0;
    if (key->kind != List_kind)
        return add_key(all, frame, key, made);
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(key->v.List.elts); i++)
        if (add_key(all, frame, asdl_seq_GET(key->v.List.elts, i), made) < 0)
            return -1;
    return 0;
}

static int add_attribute(struct hc_columns *all, expr_ty e, bool called)
{
    const char *frame = frame_of(e->v.Attribute.value);
    if (!frame || called)
        return 0;
    const char *name = PyUnicode_AsUTF8(e->v.Attribute.attr);
    PyErr_Clear();
    if (!name || is_attribute(name))
        return 0;
    return add_access(all, frame, e->v.Attribute.attr, e, e->v.Attribute.ctx != Load);
}

static int add_expression(struct hc_columns *all, expr_ty e, bool called)
{
    if (e->kind == Subscript_kind)
        return add_subscript(all, e, e->v.Subscript.ctx == Store);
    return e->kind == Attribute_kind ? add_attribute(all, e, called) : 0;
}

int hc_columns_look(struct hc_columns *all, const struct hc_tree_node *node, bool called)
{
    if (hc_guard.code.frames.count == 0)
        return 0;
    if (node->type == HC_NODE_EXPRESSION)
        return add_expression(all, node->node, called);
    stmt_ty s = node->node;
    /* frame["c"] += 1 reads the column first. */
    if (node->type == HC_NODE_STATEMENT && s->kind == AugAssign_kind &&
        s->v.AugAssign.target->kind == Subscript_kind)
        return add_subscript(all, s->v.AugAssign.target, false);
    return 0;
}

static int by_frame_and_place(const void *a, const void *b)
{
    const struct hc_access *x = a, *y = b;
    int frames = strcmp(x->frame, y->frame);
    if (frames)
        return frames;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return 0;
}

/* Is the column listed already, or made by the program in an earlier line? */
static bool is_known(const struct hc_columns *all, const struct hc_access *one)
{
    for (const struct hc_access *other = all->items; other < one; other++) {
        if (strcmp(other->frame, one->frame) != 0 || strcmp(other->column, one->column) != 0)
            continue;
        if (!other->made || other->line < one->line)
            return true;
    }
    return false;
}

void hc_columns_json(struct hc_columns *all, struct hc_buf *out)
{
    const char *frame = NULL;
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_frame_and_place);
    for (const struct hc_access *one = all->items; one < all->items + all->count; one++) {
        if (one->made || is_known(all, one))
            continue;
        if (!frame || strcmp(frame, one->frame) != 0) {
            (void)hc_buf_fmt(out, "%s", frame ? "]," : "{");
            (void)hc_json_cstr(out, one->frame, 1024);
            (void)hc_buf_str(out, ":[");
        } else {
            (void)hc_buf_str(out, ",");
        }
        frame = one->frame;
        (void)hc_json_cstr(out, one->column, 1024);
    }
    if (frame)
        (void)hc_buf_str(out, "]}");
}

void hc_columns_finish(struct hc_columns *all)
{
    free(all->items);
    *all = (struct hc_columns){0};
}
