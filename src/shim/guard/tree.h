/* tree.h - a walk over CPython's syntax tree, every node of it, without recursion: how deep a program may be
 * nested is not the walk's business.
 *
 * To be included first: CPython shows its tree only to those who say that they are part of it. */
#ifndef HC_SHIM_GUARD_TREE_H
#define HC_SHIM_GUARD_TREE_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#include "shim/harness/py.h"

#include <internal/pycore_ast.h>

enum hc_node_type {
    HC_NODE_NONE,
    HC_NODE_STATEMENT,     /* stmt_ty */
    HC_NODE_EXPRESSION,    /* expr_ty */
    HC_NODE_PATTERN,       /* pattern_ty */
    HC_NODE_HANDLER,       /* excepthandler_ty */
    HC_NODE_ARGUMENTS,     /* arguments_ty */
    HC_NODE_ARGUMENT,      /* arg_ty */
    HC_NODE_KEYWORD,       /* keyword_ty */
    HC_NODE_WITH,          /* withitem_ty */
    HC_NODE_CASE,          /* match_case_ty */
    HC_NODE_COMPREHENSION, /* comprehension_ty */
    HC_NODE_TYPES
};

struct hc_tree_node {
    enum hc_node_type type;
    bool tried; /* in a statement that catches ImportError */
    void *node;
};

/* Visit each node of a module before its children, in the program's order. `visit` returns 0 to go on; what
 * else it returns ends the walk. -1 without memory, with MemoryError set. */
int hc_tree_walk(mod_ty module, int (*visit)(void *self, const struct hc_tree_node *node), void *self);

#endif
