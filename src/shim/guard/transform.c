/* Guarded writes: object.name = x becomes guard(object).name = x, wherever the language sets or deletes an
 * attribute or an item: in assignments of every kind, loops, with statements and comprehensions. The guard is
 * put into the program as a constant, as a name could be bound to another function. */
#include "shim/guard/tree.h"

#include "shim/guard/guard.h"

/* The state of hc_guard_transform. */
struct transform {
    PyArena *arena;         /* arena of the tree; borrowed */
    PyObject *guard, *call; /* the guard function, and the str "__call__"; owned by the arena */
};

/* The expression guard.__call__(object), at the object's place: the compiler warns of a call of a constant
 * itself. NULL with an exception set. */
static expr_ty make_guard_call(const struct transform *t, expr_ty object)
{
    int line = object->lineno, column = object->col_offset;
    int end_line = object->end_lineno, end_column = object->end_col_offset;
    expr_ty guard = _PyAST_Constant(t->guard, NULL, line, column, end_line, end_column, t->arena);
    expr_ty call =
        guard ? _PyAST_Attribute(guard, t->call, Load, line, column, end_line, end_column, t->arena) : NULL;
    asdl_expr_seq *args = _Py_asdl_expr_seq_new(1, t->arena);
    if (!call || !args)
        return NULL;
    asdl_seq_SET(args, 0, object);
    return _PyAST_Call(call, args, NULL, line, column, end_line, end_column, t->arena);
}

/* The place in the tree of the object whose attribute or item is set or deleted; NULL if `e` does neither. */
static expr_ty *written_object(expr_ty e)
{
    if (e->kind == Attribute_kind && e->v.Attribute.ctx != Load)
        return &e->v.Attribute.value;
    if (e->kind == Subscript_kind && e->v.Subscript.ctx != Load)
        return &e->v.Subscript.value;
    return NULL;
}

static int guard_node(void *self, const struct hc_tree_node *n)
{
    const struct transform *t = self;
    expr_ty *object = n->type == HC_NODE_EXPRESSION ? written_object(n->node) : NULL;
    expr_ty call = object ? make_guard_call(t, *object) : NULL;
    if (object && !call)
        return -1;
    if (object)
        *object = call;
    return 0;
}

/* The guard, from the built-in names that the program will have; borrowed. NULL with an exception set. */
static PyObject *find_guard(void)
{
    PyObject *main_module = PyImport_AddModule("__main__"); /* borrowed, as are these */
    PyObject *builtins =
        main_module ? PyDict_GetItemString(PyModule_GetDict(main_module), "__builtins__") : NULL;
    if (builtins && PyModule_Check(builtins))
        builtins = PyModule_GetDict(builtins);
    PyObject *guard =
        builtins && PyDict_Check(builtins) ? PyDict_GetItemString(builtins, HC_WRITE_GUARD) : NULL;
    if (!guard && !PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "the guard of writes is missing");
    return guard;
}

/* Gives `object` to the arena. Steals it; false with an exception set. */
static bool add_to_arena(PyArena *arena, PyObject *object)
{
    if (object && _PyArena_AddPyObject(arena, object) == 0)
        return true;
    Py_XDECREF(object);
    return false;
}

int hc_guard_transform(mod_ty tree, PyArena *arena)
{
    if (!hc_guard.on || !hc_guard.code.guarded_writes)
        return 0;
    struct transform t = {arena, find_guard(), PyUnicode_InternFromString("__call__")};
    if (!add_to_arena(arena, t.call) || !t.guard || !add_to_arena(arena, Py_NewRef(t.guard)))
        return -1;
    return hc_tree_walk(tree, guard_node, &t);
}
