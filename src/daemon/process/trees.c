#include "daemon/process/trees.h"

#include "base/fd.h"
#include "base/log.h"
#include "cell/tree.h"
#include "cell/tree_stamps.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#define TICK_MS 1000 /* ms between two checks */

/* State of the checks of one tree, beside the tree's row on the board; private to the tree checker. */
struct place {
    size_t next; /* number of the entry to check next */
    /* hc_stamps_sum at the last check; if the stamps differ now, a changed tree is checked again */
    char sum[HC_SHA256_HEX];
    bool seen, known;    /* found in the store in this round; and in a round before */
    bool unstamped_said; /* the log has said that it has no stamps */
};

struct tree_checker {
    struct hc_tree_board *board;        /* mapped for writing; owned; NULL: not mapped */
    struct place places[HC_TREES_MOST]; /* place i belongs to row i of the board */
    int64_t round_ms;                   /* ms in which each entry is checked once; 0: all entries at once */
    enum hc_tree_kind kind;             /* kind of the entry that is being looked at */
    struct hc_error first;              /* the first error that was met; empty: none */
};

/* filled by the manager; the tree checker inherits it and goes on from there */
static struct tree_checker tree_checker;

/* ---- the checks ---- */

static void note_changed(struct tree_checker *c, struct hc_tree_row *row, const char *text)
{
    (void)snprintf(row->text, sizeof row->text, "%s", text);
    row->changed = true;
    c->board->changed++;
    c->board->news++;
    if (c->round_ms) /* at the start the caller reports it, and the daemon ends */
        hc_warn("%s; until then no job is run in it", text);
}

static void note_right(struct tree_checker *c, struct hc_tree_row *row)
{
    row->changed = false;
    c->board->changed--;
    c->board->news++;
    hc_info("tree '%s' is as it was again: jobs are run in it", *row->name ? row->name : row->id);
}

/* Not the "" or "+" of what has no name. */
static bool is_name(const char *name)
{
    return name[0] && strcmp(name, "+") != 0;
}

/* Tells of a name that means another tree than before: new jobs run in that. */
static void note_moved(struct tree_checker *c, const struct hc_tree_row *was, const char *id)
{
    c->board->news++;
    hc_info("%s '%s' is %.12s now, and was %.12s: jobs that begin from now on run in it, and those that run "
            "keep the "
            "old one",
            *was->name == HC_LAYER_SIGN ? "layer" : "tree", was->name, id, was->id);
}

/* Means the name of `row` another tree now, which has a row of its own? */
static bool has_moved(const struct tree_checker *c, const struct hc_tree_row *row)
{
    for (size_t i = 0; i < HC_TREES_MOST; i++) {
        const struct hc_tree_row *other = &c->board->rows[i];
        if (other != row && other->id[0] && strcmp(other->name, row->name) == 0)
            return true;
    }
    return false;
}

/* Tells of a tree that is no longer in the store under this name, and frees its row. */
static void note_removed(struct tree_checker *c, struct hc_tree_row *row)
{
    if (row->changed)
        c->board->changed--;
    row->changed = false;
    c->board->news++;
    if (is_name(row->name) && !has_moved(c, row))
        hc_info("%s '%s' has been removed: no job is run in it",
                *row->name == HC_LAYER_SIGN ? "layer" : "tree", row->name);
    row->id[0] = '\0';
}

/* Finds or makes the row of a tree. Each name of a tree has its own row, as messages name the tree by it. */
static struct hc_tree_row *find_row(struct tree_checker *c, const char *name, const char *id)
{
    struct hc_tree_row *unused = NULL, *was = NULL;
    for (size_t i = 0; i < HC_TREES_MOST; i++) {
        struct hc_tree_row *row = &c->board->rows[i];
        if (!row->id[0])
            unused = unused ? unused : row;
        else if (strcmp(row->id, id) == 0 && strcmp(row->name, name) == 0)
            return row;
        else if (strcmp(row->name, name) == 0 && is_name(name) && !c->places[i].seen)
            was = row; /* one that this round has seen is a tree of the same name in another store */
    }
    if (!unused)
        return NULL;
    if (was)
        note_moved(c, was, id);
    (void)snprintf(unused->name, sizeof unused->name, "%s", name);
    (void)snprintf(unused->id, sizeof unused->id, "%s", id);
    c->places[unused - c->board->rows] = (struct place){0};
    return unused;
}

/* Checks the next part of the tree, or the whole tree at the start and if it is marked as changed. */
static int look_at_part(struct tree_checker *c, struct hc_tree_row *row, struct hc_stamps *s,
                        struct hc_error *err)
{
    struct place *p = &c->places[row - c->board->rows];
    if (row->changed && strcmp(p->sum, hc_stamps_sum(s)) == 0)
        return 0;
    bool all = !c->round_ms || row->changed;
    size_t first = all || p->next >= s->count ? 0 : p->next;
    size_t count = all ? s->count : s->count * TICK_MS / (size_t)c->round_ms + 1;
    p->next = first + count;
    (void)snprintf(p->sum, sizeof p->sum, "%s", hc_stamps_sum(s));
    return hc_stamps_check(s, first, count, err) < 0 ? -1 : 1;
}

static int look(struct tree_checker *c, struct hc_tree_row *row, const struct hc_tree *tree,
                struct hc_error *err)
{
    struct hc_stamps s;
    struct place *p = &c->places[row - c->board->rows];
    int rc = hc_stamps_open(&s, tree, !p->next || row->changed, err);
    if (rc == 0 && s.map)
        rc = look_at_part(c, row, &s, err);
    else if (rc == 0 && c->round_ms && !p->unstamped_said) {
        p->unstamped_said = true;
        hc_warn("tree '%s': nobody can tell whether it is changed: %s: 'hotcell tree verify %s' makes some",
                tree->name, s.why, tree->name);
    }
    hc_stamps_finish(&s);
    return rc;
}

static void visit(void *ctx, const char *bare, const char *id, const char *path)
{
    struct tree_checker *c = ctx;
    char name[sizeof c->board->rows->name];
    const bool layer = c->kind == HC_KIND_LAYER;
    (void)snprintf(name, sizeof name, "%s%s", layer ? "+" : "", bare);
    struct hc_tree tree;
    struct hc_error err;
    struct hc_tree_row *row = find_row(c, name, id);
    /* the tree is for another Python, or has just been removed */
    if (!row || (layer ? hc_layer_open(&tree, id, &err) : hc_tree_open(&tree, path, &err)) < 0)
        return;
    c->places[row - c->board->rows].seen = true;
    (void)snprintf(tree.name, sizeof tree.name, "%s%s", *bare ? name : layer ? "+" : "", *bare ? "" : id);
    int rc = look(c, row, &tree, &err);
    if (rc < 0 && err.exit == HC_EXIT_UNAVAILABLE && !row->changed)
        note_changed(c, row, err.text);
    if (rc > 0 && row->changed)
        note_right(c, row);
    if (rc < 0 && !*c->first.text)
        c->first = err;
    hc_tree_finish(&tree);
}

/* Frees the rows of trees that are no longer in the store, and of those that could never be opened. */
static void forget_unseen(struct tree_checker *c)
{
    for (size_t i = 0; i < HC_TREES_MOST; i++) {
        struct hc_tree_row *row = &c->board->rows[i];
        struct place *p = &c->places[i];
        if (row->id[0] && !p->seen && (p->known || row->changed))
            note_removed(c, row);
        else if (!p->seen)
            row->id[0] = '\0';
        p->known = p->seen;
        p->seen = false;
    }
}

static int look_around(struct tree_checker *c, struct hc_error *err)
{
    for (c->kind = HC_KIND_TREE; c->kind <= HC_KIND_LAYER; c->kind++)
        if (hc_tree_each(c->kind, visit, c, err) < 0)
            return -1;
    forget_unseen(c);
    return 0;
}

static struct hc_tree_board *map_board(int fd, int protection, struct hc_error *err)
{
    void *map = mmap(NULL, sizeof(struct hc_tree_board), protection, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? (void)hc_fail(err, errno, "map the board of trees"), NULL : map;
}

void hc_trees_main(struct hc_trees *t, int64_t round_ms)
{
    struct tree_checker *c = &tree_checker;
    struct hc_error err = {0};
    c->round_ms = MAX(round_ms, TICK_MS);
    c->board = map_board(t->fd, PROT_READ | PROT_WRITE, &err);
    if (!c->board)
        hc_warn("%s", err.text);
    while (c->board) {
        (void)poll(NULL, 0, TICK_MS);
        if (look_around(c, &err) < 0)
            hc_warn("look at the trees: %s", err.text);
    }
    exit(EXIT_FAILURE);
}

/* ---- the board ---- */

/* Maps the board from a read-only descriptor: such a mapping can never be made writable. */
static int map_for_reading(struct hc_trees *t, struct hc_error *err)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", t->fd);
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "open the board of trees");
    t->board = map_board(fd, PROT_READ, err);
    return t->board ? 0 : -1;
}

static int look_at_all(const struct hc_trees *t, struct hc_error *err)
{
    struct tree_checker *c = &tree_checker;
    c->board = map_board(t->fd, PROT_READ | PROT_WRITE, err);
    if (!c->board)
        return -1;
    int rc = look_around(c, err);
    (void)munmap(c->board, sizeof *c->board);
    c->board = NULL;
    if (rc == 0 && *c->first.text) {
        *err = c->first;
        rc = -1;
    }
    return rc;
}

int hc_trees_open(struct hc_trees *t, struct hc_error *err)
{
    t->fd = memfd_create("hotcelld-trees", MFD_CLOEXEC);
    if (t->fd < 0 || ftruncate(t->fd, sizeof(struct hc_tree_board)) < 0)
        return hc_fail(err, errno, "make the board of trees");
    return map_for_reading(t, err) < 0 ? -1 : look_at_all(t, err);
}

void hc_trees_finish(struct hc_trees *t)
{
    if (t->board)
        (void)munmap((void *)(uintptr_t)t->board, sizeof *t->board);
    t->board = NULL;
    hc_close_fd(&t->fd);
}

const struct hc_tree_row *hc_trees_find_changed(const struct hc_trees *t, const char *id)
{
    for (size_t i = 0; t->board->changed && i < HC_TREES_MOST; i++)
        if (t->board->rows[i].changed && strcmp(t->board->rows[i].id, id) == 0)
            return &t->board->rows[i];
    return NULL;
}

bool hc_trees_still_means(const char *name, const char *const *ids, size_t count)
{
    struct hc_tree tree;
    struct hc_error ignored;
    if (hc_tree_open(&tree, name, &ignored) < 0)
        return false;
    bool same = count == tree.layer_count + 1 && strcmp(tree.id, ids[0]) == 0;
    for (size_t i = 0; same && i < tree.layer_count; i++)
        same = strcmp(tree.layers[i].id, ids[i + 1]) == 0;
    hc_tree_finish(&tree);
    return same;
}

int hc_trees_check(const struct hc_trees *t, const char *name, struct hc_error *err)
{
    struct hc_tree tree;
    struct hc_error ignored;
    /* if the tree cannot be opened, building the cell reports it */
    if (!t->board->changed || hc_tree_open(&tree, name, &ignored) < 0)
        return 0;
    const struct hc_tree_row *row = hc_trees_find_changed(t, tree.id);
    for (size_t i = 0; !row && i < tree.layer_count; i++)
        row = hc_trees_find_changed(t, tree.layers[i].id);
    hc_tree_finish(&tree);
    return row ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s", row->text) : 0;
}
