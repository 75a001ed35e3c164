/* tree.h - visits every node of CPython's syntax tree, without recursion, so that a program may be nested to
 * any depth.
 *
 * To be included first, as CPython declares its tree only for code that defines Py_BUILD_CORE. */
#ifndef HC_SHIM_GUARD_TREE_H
#define HC_SHIM_GUARD_TREE_H

#include "shim/cpython/cpython.h"
#include "shim/harness/py.h"

#include <internal/pycore_ast.h>

enum hc_node_type {
    HC_NODE_NONE,           /* no node: ends the rows of a table */
    HC_NODE_STATEMENT,      /* stmt_ty */
    HC_NODE_EXPRESSION,     /* expr_ty */
    HC_NODE_PATTERN,        /* pattern_ty */
    HC_NODE_HANDLER,        /* excepthandler_ty */
    HC_NODE_ARGUMENTS,      /* arguments_ty */
    HC_NODE_ARGUMENT,       /* arg_ty */
    HC_NODE_KEYWORD,        /* keyword_ty */
    HC_NODE_WITH,           /* withitem_ty */
    HC_NODE_CASE,           /* match_case_ty */
    HC_NODE_COMPREHENSION,  /* comprehension_ty */
    HC_NODE_TYPE_PARAMETER, /* type_param_ty, where the syntax has it */
    HC_NODE_TYPES
};

struct hc_tree_node {
    enum hc_node_type type; /* tells the struct that `node` points to */
    bool tried;             /* the node stands in a statement that catches ImportError */
    void *node;             /* node itself, in the struct of its type; borrowed from the arena */
};

/* Calls visit(self, node) for each node of a module before its children, in the program's order. A result of
 * `visit` other than 0 ends the walk, and is returned. -1 with MemoryError set: no memory. */
int hc_tree_walk(mod_ty module, int (*visit)(void *self, const struct hc_tree_node *node), void *self);

#endif
