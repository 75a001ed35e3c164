#include "shim/guard/tree.h"

#include <stddef.h>

/* Is an ImportError that a part of a node raises caught? */
enum import_error {
    CAUGHT_AS_AROUND, /* if it is caught around the node */
    CAUGHT_BY_NODE,   /* also if the node is a statement that catches it */
    NOT_CAUGHT, /* no: the part may run outside the statements around it, such as the body of a function */
};

/* A member of a node that holds another node, or a sequence of nodes. */
struct field {
    enum hc_node_type type;         /* type of the nodes; HC_NODE_NONE ends the list */
    bool list;                      /* the member is a sequence of nodes, not a node */
    enum import_error import_error; /* whether ImportError is caught in the nodes */
    size_t at;                      /* the member's offset in its struct, in bytes */
};

#define MOST_FIELDS 7 /* most fields of a node */

struct fields {                  /* fields of one kind of node */
    struct field f[MOST_FIELDS]; /* in the order in which they stand in the program */
};

#define ONE(type, owner, member)                                                                             \
    {                                                                                                        \
        HC_NODE_##type, false, CAUGHT_AS_AROUND, offsetof(struct owner, member)                              \
    }
#define LIST(type, owner, member)                                                                            \
    {                                                                                                        \
        HC_NODE_##type, true, CAUGHT_AS_AROUND, offsetof(struct owner, member)                               \
    }
#define BLOCK(import_error, type, owner, member)                                                             \
    {                                                                                                        \
        HC_NODE_##type, true, import_error, offsetof(struct owner, member)                                   \
    }

/* The type parameters of a statement. Their bounds and defaults, and the value of a "type" statement, are
 * evaluated when somebody asks for them, perhaps outside the statements around them. */
#if HC_HAS_TYPE_PARAMETERS
#define TYPE_PARAMETERS(member) BLOCK(NOT_CAUGHT, TYPE_PARAMETER, _stmt, member),
#else
#define TYPE_PARAMETERS(member)
#endif

/* All fields of Python.asdl that hold nodes; kinds without a row hold only names and constants. */
static const struct fields statements[] = {
    [FunctionDef_kind] = {{TYPE_PARAMETERS(v.FunctionDef.type_params)
                               LIST(EXPRESSION, _stmt, v.FunctionDef.decorator_list),
                           ONE(ARGUMENTS, _stmt, v.FunctionDef.args),
                           ONE(EXPRESSION, _stmt, v.FunctionDef.returns),
                           BLOCK(NOT_CAUGHT, STATEMENT, _stmt, v.FunctionDef.body)}},
    [AsyncFunctionDef_kind] = {{TYPE_PARAMETERS(v.AsyncFunctionDef.type_params)
                                    LIST(EXPRESSION, _stmt, v.AsyncFunctionDef.decorator_list),
                                ONE(ARGUMENTS, _stmt, v.AsyncFunctionDef.args),
                                ONE(EXPRESSION, _stmt, v.AsyncFunctionDef.returns),
                                BLOCK(NOT_CAUGHT, STATEMENT, _stmt, v.AsyncFunctionDef.body)}},
    [ClassDef_kind] = {{TYPE_PARAMETERS(v.ClassDef.type_params)
                            LIST(EXPRESSION, _stmt, v.ClassDef.decorator_list),
                        LIST(EXPRESSION, _stmt, v.ClassDef.bases), LIST(KEYWORD, _stmt, v.ClassDef.keywords),
                        LIST(STATEMENT, _stmt, v.ClassDef.body)}},
#if HC_HAS_TYPE_PARAMETERS
    [TypeAlias_kind] = {{ONE(EXPRESSION, _stmt, v.TypeAlias.name),
                         TYPE_PARAMETERS(v.TypeAlias.type_params) ONE(EXPRESSION, _stmt, v.TypeAlias.value)}},
#endif
    [Return_kind] = {{ONE(EXPRESSION, _stmt, v.Return.value)}},
    [Delete_kind] = {{LIST(EXPRESSION, _stmt, v.Delete.targets)}},
    [Assign_kind] = {{LIST(EXPRESSION, _stmt, v.Assign.targets), ONE(EXPRESSION, _stmt, v.Assign.value)}},
    [AugAssign_kind] = {{ONE(EXPRESSION, _stmt, v.AugAssign.target),
                         ONE(EXPRESSION, _stmt, v.AugAssign.value)}},
    [AnnAssign_kind] = {{ONE(EXPRESSION, _stmt, v.AnnAssign.target),
                         ONE(EXPRESSION, _stmt, v.AnnAssign.annotation),
                         ONE(EXPRESSION, _stmt, v.AnnAssign.value)}},
    [For_kind] = {{ONE(EXPRESSION, _stmt, v.For.target), ONE(EXPRESSION, _stmt, v.For.iter),
                   LIST(STATEMENT, _stmt, v.For.body), LIST(STATEMENT, _stmt, v.For.orelse)}},
    [AsyncFor_kind] = {{ONE(EXPRESSION, _stmt, v.AsyncFor.target), ONE(EXPRESSION, _stmt, v.AsyncFor.iter),
                        LIST(STATEMENT, _stmt, v.AsyncFor.body), LIST(STATEMENT, _stmt, v.AsyncFor.orelse)}},
    [While_kind] = {{ONE(EXPRESSION, _stmt, v.While.test), LIST(STATEMENT, _stmt, v.While.body),
                     LIST(STATEMENT, _stmt, v.While.orelse)}},
    [If_kind] = {{ONE(EXPRESSION, _stmt, v.If.test), LIST(STATEMENT, _stmt, v.If.body),
                  LIST(STATEMENT, _stmt, v.If.orelse)}},
    [With_kind] = {{LIST(WITH, _stmt, v.With.items), BLOCK(CAUGHT_BY_NODE, STATEMENT, _stmt, v.With.body)}},
    [AsyncWith_kind] = {{LIST(WITH, _stmt, v.AsyncWith.items), LIST(STATEMENT, _stmt, v.AsyncWith.body)}},
    [Match_kind] = {{ONE(EXPRESSION, _stmt, v.Match.subject), LIST(CASE, _stmt, v.Match.cases)}},
    [Raise_kind] = {{ONE(EXPRESSION, _stmt, v.Raise.exc), ONE(EXPRESSION, _stmt, v.Raise.cause)}},
    [Try_kind] = {{BLOCK(CAUGHT_BY_NODE, STATEMENT, _stmt, v.Try.body), LIST(HANDLER, _stmt, v.Try.handlers),
                   LIST(STATEMENT, _stmt, v.Try.orelse), LIST(STATEMENT, _stmt, v.Try.finalbody)}},
    [TryStar_kind] = {{BLOCK(CAUGHT_BY_NODE, STATEMENT, _stmt, v.TryStar.body),
                       LIST(HANDLER, _stmt, v.TryStar.handlers), LIST(STATEMENT, _stmt, v.TryStar.orelse),
                       LIST(STATEMENT, _stmt, v.TryStar.finalbody)}},
    [Assert_kind] = {{ONE(EXPRESSION, _stmt, v.Assert.test), ONE(EXPRESSION, _stmt, v.Assert.msg)}},
    [Expr_kind] = {{ONE(EXPRESSION, _stmt, v.Expr.value)}},
};

static const struct fields expressions[] = {
    [BoolOp_kind] = {{LIST(EXPRESSION, _expr, v.BoolOp.values)}},
    [NamedExpr_kind] = {{ONE(EXPRESSION, _expr, v.NamedExpr.target),
                         ONE(EXPRESSION, _expr, v.NamedExpr.value)}},
    [BinOp_kind] = {{ONE(EXPRESSION, _expr, v.BinOp.left), ONE(EXPRESSION, _expr, v.BinOp.right)}},
    [UnaryOp_kind] = {{ONE(EXPRESSION, _expr, v.UnaryOp.operand)}},
    [Lambda_kind] = {{ONE(ARGUMENTS, _expr, v.Lambda.args), ONE(EXPRESSION, _expr, v.Lambda.body)}},
    [IfExp_kind] = {{ONE(EXPRESSION, _expr, v.IfExp.body), ONE(EXPRESSION, _expr, v.IfExp.test),
                     ONE(EXPRESSION, _expr, v.IfExp.orelse)}},
    [Dict_kind] = {{LIST(EXPRESSION, _expr, v.Dict.keys), LIST(EXPRESSION, _expr, v.Dict.values)}},
    [Set_kind] = {{LIST(EXPRESSION, _expr, v.Set.elts)}},
    [ListComp_kind] = {{ONE(EXPRESSION, _expr, v.ListComp.elt),
                        LIST(COMPREHENSION, _expr, v.ListComp.generators)}},
    [SetComp_kind] = {{ONE(EXPRESSION, _expr, v.SetComp.elt),
                       LIST(COMPREHENSION, _expr, v.SetComp.generators)}},
    [DictComp_kind] = {{ONE(EXPRESSION, _expr, v.DictComp.key), ONE(EXPRESSION, _expr, v.DictComp.value),
                        LIST(COMPREHENSION, _expr, v.DictComp.generators)}},
    [GeneratorExp_kind] = {{ONE(EXPRESSION, _expr, v.GeneratorExp.elt),
                            LIST(COMPREHENSION, _expr, v.GeneratorExp.generators)}},
    [Await_kind] = {{ONE(EXPRESSION, _expr, v.Await.value)}},
    [Yield_kind] = {{ONE(EXPRESSION, _expr, v.Yield.value)}},
    [YieldFrom_kind] = {{ONE(EXPRESSION, _expr, v.YieldFrom.value)}},
    [Compare_kind] = {{ONE(EXPRESSION, _expr, v.Compare.left),
                       LIST(EXPRESSION, _expr, v.Compare.comparators)}},
    [Call_kind] = {{ONE(EXPRESSION, _expr, v.Call.func), LIST(EXPRESSION, _expr, v.Call.args),
                    LIST(KEYWORD, _expr, v.Call.keywords)}},
    [FormattedValue_kind] = {{ONE(EXPRESSION, _expr, v.FormattedValue.value),
                              ONE(EXPRESSION, _expr, v.FormattedValue.format_spec)}},
    [JoinedStr_kind] = {{LIST(EXPRESSION, _expr, v.JoinedStr.values)}},
    [Attribute_kind] = {{ONE(EXPRESSION, _expr, v.Attribute.value)}},
    [Subscript_kind] = {{ONE(EXPRESSION, _expr, v.Subscript.value),
                         ONE(EXPRESSION, _expr, v.Subscript.slice)}},
    [Starred_kind] = {{ONE(EXPRESSION, _expr, v.Starred.value)}},
    [List_kind] = {{LIST(EXPRESSION, _expr, v.List.elts)}},
    [Tuple_kind] = {{LIST(EXPRESSION, _expr, v.Tuple.elts)}},
    [Slice_kind] = {{ONE(EXPRESSION, _expr, v.Slice.lower), ONE(EXPRESSION, _expr, v.Slice.upper),
                     ONE(EXPRESSION, _expr, v.Slice.step)}},
};

static const struct fields patterns[] = {
    [MatchValue_kind] = {{ONE(EXPRESSION, _pattern, v.MatchValue.value)}},
    [MatchSequence_kind] = {{LIST(PATTERN, _pattern, v.MatchSequence.patterns)}},
    [MatchMapping_kind] = {{LIST(EXPRESSION, _pattern, v.MatchMapping.keys),
                            LIST(PATTERN, _pattern, v.MatchMapping.patterns)}},
    [MatchClass_kind] = {{ONE(EXPRESSION, _pattern, v.MatchClass.cls),
                          LIST(PATTERN, _pattern, v.MatchClass.patterns),
                          LIST(PATTERN, _pattern, v.MatchClass.kwd_patterns)}},
    [MatchAs_kind] = {{ONE(PATTERN, _pattern, v.MatchAs.pattern)}},
    [MatchOr_kind] = {{LIST(PATTERN, _pattern, v.MatchOr.patterns)}},
};

static const struct fields handlers[] = {
    [ExceptHandler_kind] = {{ONE(EXPRESSION, _excepthandler, v.ExceptHandler.type),
                             LIST(STATEMENT, _excepthandler, v.ExceptHandler.body)}},
};
static const struct fields arguments = {
    {LIST(ARGUMENT, _arguments, posonlyargs), LIST(ARGUMENT, _arguments, args),
     ONE(ARGUMENT, _arguments, vararg), LIST(ARGUMENT, _arguments, kwonlyargs),
     ONE(ARGUMENT, _arguments, kwarg), LIST(EXPRESSION, _arguments, defaults),
     LIST(EXPRESSION, _arguments, kw_defaults)}};
static const struct fields argument = {{ONE(EXPRESSION, _arg, annotation)}};
static const struct fields keyword = {{ONE(EXPRESSION, _keyword, value)}};
static const struct fields with_item = {
    {ONE(EXPRESSION, _withitem, context_expr), ONE(EXPRESSION, _withitem, optional_vars)}};
static const struct fields match_case = {{ONE(PATTERN, _match_case, pattern),
                                          ONE(EXPRESSION, _match_case, guard),
                                          LIST(STATEMENT, _match_case, body)}};
static const struct fields comprehension = {{ONE(EXPRESSION, _comprehension, target),
                                             ONE(EXPRESSION, _comprehension, iter),
                                             LIST(EXPRESSION, _comprehension, ifs)}};

#if HC_HAS_TYPE_PARAMETERS
static const struct fields type_parameters[] = {
#if PY_VERSION_HEX >= 0x030d0000
    [TypeVar_kind] = {{ONE(EXPRESSION, _type_param, v.TypeVar.bound),
                       ONE(EXPRESSION, _type_param, v.TypeVar.default_value)}},
    [ParamSpec_kind] = {{ONE(EXPRESSION, _type_param, v.ParamSpec.default_value)}},
    [TypeVarTuple_kind] = {{ONE(EXPRESSION, _type_param, v.TypeVarTuple.default_value)}},
#else
    [TypeVar_kind] = {{ONE(EXPRESSION, _type_param, v.TypeVar.bound)}},
#endif
};
#endif

#define BY_KIND(table, kind) ((size_t)(kind) < sizeof(table) / sizeof *(table) ? &(table)[kind] : NULL)

static const struct fields *fields_of(const struct hc_tree_node *n)
{
    switch (n->type) {
    case HC_NODE_STATEMENT:
        return BY_KIND(statements, ((stmt_ty)n->node)->kind);
    case HC_NODE_EXPRESSION:
        return BY_KIND(expressions, ((expr_ty)n->node)->kind);
    case HC_NODE_PATTERN:
        return BY_KIND(patterns, ((pattern_ty)n->node)->kind);
    case HC_NODE_HANDLER:
        return BY_KIND(handlers, ((excepthandler_ty)n->node)->kind);
    case HC_NODE_ARGUMENTS:
        return &arguments;
    case HC_NODE_ARGUMENT:
        return &argument;
    case HC_NODE_KEYWORD:
        return &keyword;
    case HC_NODE_WITH:
        return &with_item;
    case HC_NODE_CASE:
        return &match_case;
    case HC_NODE_COMPREHENSION:
        return &comprehension;
#if HC_HAS_TYPE_PARAMETERS
    case HC_NODE_TYPE_PARAMETER:
        return BY_KIND(type_parameters, ((type_param_ty)n->node)->kind);
#endif
    default:
        return NULL;
    }
}

static bool names_import_error(expr_ty type)
{
    static const char *const names[] = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (type->kind == Name_kind && PyUnicode_CompareWithASCIIString(type->v.Name.id, names[i]) == 0)
            return true;
    return false;
}

static bool handler_catches(excepthandler_ty handler)
{
    expr_ty type = handler->v.ExceptHandler.type;
    if (!type || names_import_error(type))
        return true;
    asdl_expr_seq *all = type->kind == Tuple_kind ? type->v.Tuple.elts : NULL;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(all); i++)
        if (names_import_error(asdl_seq_GET(all, i)))
            return true;
    return false;
}

/* Is the expression contextlib.suppress(ImportError)? */
static bool suppresses(expr_ty e)
{
    expr_ty callee = e->kind == Call_kind ? e->v.Call.func : NULL;
    PyObject *name = !callee                          ? NULL
                     : callee->kind == Attribute_kind ? callee->v.Attribute.attr
                     : callee->kind == Name_kind      ? callee->v.Name.id
                                                      : NULL; /* borrowed */
    if (!name || PyUnicode_CompareWithASCIIString(name, "suppress") != 0)
        return false;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(e->v.Call.args); i++)
        if (names_import_error(asdl_seq_GET(e->v.Call.args, i)))
            return true;
    return false;
}

static bool catches_import_error(stmt_ty s)
{
    asdl_withitem_seq *items = s->kind == With_kind ? s->v.With.items : NULL;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(items); i++)
        if (suppresses(asdl_seq_GET(items, i)->context_expr))
            return true;
    if (s->kind == With_kind)
        return false;
    asdl_excepthandler_seq *all = s->kind == Try_kind ? s->v.Try.handlers : s->v.TryStar.handlers;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(all); i++)
        if (handler_catches(asdl_seq_GET(all, i)))
            return true;
    return false;
}

/* The nodes that are still to be visited, the next one last. */
struct pile {
    struct hc_tree_node *items; /* owned */
    size_t count, cap;          /* number of nodes; number that `items` has room for */
};

static int push(struct pile *p, struct hc_tree_node node)
{
    if (!node.node)
        return 0;
    if (p->count == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 256;
        struct hc_tree_node *more = PyMem_RawRealloc(p->items, cap * sizeof *more);
        if (!more)
            return PyErr_NoMemory(), -1;
        p->items = more;
        p->cap = cap;
    }
    p->items[p->count++] = node;
    return 0;
}

static int push_field(struct pile *p, const struct hc_tree_node *owner, const struct field *f)
{
    void *value;
    memcpy(&value, (const char *)owner->node + f->at, sizeof value);
    struct hc_tree_node node = {.type = f->type, .tried = owner->tried, .node = value};
    if (f->import_error == CAUGHT_BY_NODE)
        node.tried = owner->tried || catches_import_error(owner->node);
    else if (f->import_error == NOT_CAUGHT)
        node.tried = false;
    if (!f->list)
        return push(p, node);
    const asdl_seq *all = value;
    for (Py_ssize_t i = asdl_seq_LEN(all); i-- > 0;) {
        node.node = asdl_seq_GET_UNTYPED(all, i);
        if (push(p, node) < 0)
            return -1;
    }
    return 0;
}

static int push_fields(struct pile *p, const struct hc_tree_node *owner, const struct fields *all)
{
    for (size_t i = MOST_FIELDS; all && i-- > 0;)
        if (all->f[i].type != HC_NODE_NONE && push_field(p, owner, &all->f[i]) < 0)
            return -1;
    return 0;
}

static int walk(struct pile *p, int (*visit)(void *self, const struct hc_tree_node *node), void *self)
{
    while (p->count) {
        struct hc_tree_node node = p->items[--p->count];
        int rc = visit(self, &node);
        if (rc != 0)
            return rc;
        if (push_fields(p, &node, fields_of(&node)) < 0)
            return -1;
    }
    return 0;
}

int hc_tree_walk(mod_ty module, int (*visit)(void *self, const struct hc_tree_node *node), void *self)
{
    static const struct field body = LIST(STATEMENT, _mod, v.Module.body);
    struct pile pile = {0};
    struct hc_tree_node root = {.node = module};
    int rc = push_field(&pile, &root, &body);
    if (rc == 0)
        rc = walk(&pile, visit, self);
    PyMem_RawFree(pile.items);
    return rc;
}
