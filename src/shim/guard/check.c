/* Applies the rules of a policy to a program's syntax tree. Each check_* function checks one kind of node; it
 * returns -1 with an exception set if there is no memory. */
#include "shim/guard/tree.h"

#include "base/utf8.h"
#include "shim/guard/columns.h"
#include "shim/guard/guard.h"
#include "shim/guard/hints.h"
#include "shim/harness/words.h"

#define UNUSED_MAX 16 /* imports that may be unused; further ones are refused at once */
#define BOUND_MAX  8  /* names of one import */

/* An import that is not allowed, and binds names that the program may use nowhere. */
struct unused {
    struct hc_finding found;
    const char *bound[BOUND_MAX]; /* the names that it binds, borrowed from the tree */
    size_t bound_count;
    bool used; /* one of these names stands elsewhere in the program */
};

/* The state of one check. */
struct check {
    struct hc_findings *out;   /* receives the findings; borrowed */
    struct hc_lines lines;     /* lines of the program; owned */
    struct hc_columns columns; /* columns that the program uses; owned */
    expr_ty called;            /* the function's expression in the call visited last */
    bool file_calls;           /* the policy asks for warnings about calls of file functions */
    bool saves;                /* the program calls savefig() somewhere */
    struct unused unused[UNUSED_MAX];
    size_t unused_count;
};

/* ---- findings ---- */

static int add_finding(struct check *l, struct hc_finding *one)
{
    return hc_findings_add(l->out, one) < 0 ? (PyErr_NoMemory(), -1) : 0;
}

/* `template` is the policy's message, with {name}. */
static int add_refusal(struct check *l, const char *rule, struct hc_span at, const char *template,
                       const char *name, const char *hint)
{
    struct hc_finding one = {.rule = rule, .hint = hint, .at = at};
    (void)snprintf(one.what, sizeof one.what, "%s", name);
    hc_guard_message(one.message, sizeof one.message, template, name);
    return add_finding(l, &one);
}

static int add_warning(struct check *l, const char *rule, struct hc_span at, const char *message)
{
    struct hc_finding one = {.rule = rule, .at = at, .warning = true};
    (void)snprintf(one.message, sizeof one.message, "%s", message);
    return add_finding(l, &one);
}

/* ---- places ---- */

#define WHOLE(l, node)                                                                                       \
    hc_lines_place(&(l)->lines, (node)->lineno, (node)->col_offset, (node)->end_lineno,                      \
                   (node)->end_col_offset)
#define WORD(l, node, word) hc_lines_word(&(l)->lines, (node)->lineno, (node)->col_offset, word)

/* The text of an identifier; "" if the object is not a str. */
static const char *text_of(PyObject *identifier)
{
    const char *text = identifier && PyUnicode_Check(identifier) ? PyUnicode_AsUTF8(identifier) : NULL;
    if (!text)
        PyErr_Clear();
    return text ? text : "";
}

static const char *constant_text(expr_ty e)
{
    return e && e->kind == Constant_kind ? text_of(e->v.Constant.value) : "";
}

/* The last name of "name" and "some.name"; "" for another expression. */
static const char *last_name(expr_ty e)
{
    return e->kind == Name_kind        ? text_of(e->v.Name.id)
           : e->kind == Attribute_kind ? text_of(e->v.Attribute.attr)
                                       : "";
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* ---- names ---- */

static bool name_denied(const char *name)
{
    bool ours = hc_guard.code.guarded_writes && strcmp(name, HC_WRITE_GUARD) == 0;
    return *name && (ours || hc_guard_given_denied(name) || hc_names_has(&hc_guard.names.deny, name) ||
                     hc_names_has_suffix(&hc_guard.attributes.suffixes, name));
}

static int refuse_name(struct check *l, const char *name, struct hc_span at)
{
    return add_refusal(l, "names", at, hc_guard.names.message, name, hc_hint_for_attribute(name));
}

/* Checks a name that stands in the line of `node`. Its place is looked for only if it is denied: lines can be
 * long. */
#define CHECK_NAME(l, node, name) (name_denied(name) ? refuse_name(l, name, WORD(l, node, name)) : 0)

static int check_names(struct check *l, stmt_ty s, asdl_identifier_seq *names)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        const char *name = text_of(asdl_seq_GET(names, i));
        if (CHECK_NAME(l, s, name) < 0)
            return -1;
    }
    return 0;
}

static int check_attribute(struct check *l, const char *name, struct hc_span at)
{
    if (!*name || !hc_guard_attribute_denied(name))
        return 0;
    return add_refusal(l, "attributes", at, hc_guard.attributes.message, name, hc_hint_for_attribute(name));
}

/* ---- imports ---- */

/* An import in a statement that catches ImportError is left to the check at run time, as the program is
 * prepared for its failure. But where only listed modules may be imported, it is refused at once. */
static bool left_to_run_time(bool tried)
{
    return tried && hc_guard.imports.at_run && !hc_guard.imports.allow.given;
}

/* Returns 1 if a refusal was added. */
static int check_module(struct check *l, const char *dotted, bool from, bool tried, struct hc_span at)
{
    if (!hc_guard.imports.at_check || left_to_run_time(tried))
        return 0;
    const char *message = hc_guard_import_refusal(dotted, from);
    if (!message)
        return 0;
    return add_refusal(l, "imports", at, message, dotted, hc_hint_for_module(dotted)) < 0 ? -1 : 1;
}

/* Puts the import aside, until it is known whether its names are used (judge_unused). `names` and `count`:
 * those that it binds. */
static int add_unused(struct check *l, struct hc_span at, const char *message, const char *dotted,
                      const char *const *names, size_t count)
{
    struct unused *u = &l->unused[l->unused_count++];
    *u = (struct unused){.found = {.rule = "imports", .hint = hc_hint_for_module(dotted), .at = at},
                         .bound_count = count};
    (void)snprintf(u->found.what, sizeof u->found.what, "%s", dotted);
    hc_guard_message(u->found.message, sizeof u->found.message, message, dotted);
    memcpy(u->bound, names, count * sizeof *names);
    return 1;
}

/* Refuses the import of a module, or puts it aside if it binds names. 1: it is not allowed. */
static int check_binding(struct check *l, const char *dotted, bool from, bool tried, struct hc_span at,
                         const char *const *names, size_t count)
{
    const char *message = hc_guard.imports.warn_unused && count && !left_to_run_time(tried)
                              ? hc_guard_import_refusal(dotted, from)
                              : NULL;
    bool fits = l->unused_count < UNUSED_MAX && strlen(dotted) < sizeof l->unused[0].found.what;
    return message && fits ? add_unused(l, at, message, dotted, names, count)
                           : check_module(l, dotted, from, tried, at);
}

static int check_import(struct check *l, asdl_alias_seq *names, bool tried)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        alias_ty alias = asdl_seq_GET(names, i);
        const char *dotted = text_of(alias->name);
        char bound[256];
        (void)snprintf(bound, sizeof bound, "%.*s", (int)strcspn(dotted, "."), dotted);
        const char *as = text_of(alias->asname);
        const char *binds = *as ? as : dotted; /* binds_name compares the first part of a dotted name */
        bool deep = *as && strchr(dotted, '.');
        int rc = check_binding(l, dotted, false, tried, WORD(l, alias, dotted), &binds, !deep);
        if (rc == 0)
            rc = CHECK_NAME(l, alias, *as ? as : bound);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* "from package import module" imports package.module, if that is denied by its name. */
static int check_imported_name(struct check *l, const char *package, alias_ty alias, bool tried)
{
    char dotted[512];
    const char *name = text_of(alias->name), *as = text_of(alias->asname);
    (void)snprintf(dotted, sizeof dotted, "%s.%s", package, name);
    if (hc_guard_import_denied(dotted))
        return check_module(l, dotted, true, tried, WHOLE(l, alias));
    if (check_attribute(l, name, WHOLE(l, alias)) < 0)
        return -1;
    return CHECK_NAME(l, alias, *as ? as : name);
}

static int check_relative_import(struct check *l, stmt_ty s, bool tried)
{
    char name[256];
    const char *module = text_of(s->v.ImportFrom.module);
    int dots = s->v.ImportFrom.level < 8 ? s->v.ImportFrom.level : 8;
    (void)snprintf(name, sizeof name, "%.*s%s", dots, "........", module);
    if (!hc_guard.imports.at_check || left_to_run_time(tried))
        return 0;
    return add_refusal(l, "imports", WORD(l, s, "."), hc_guard.imports.message, name,
                       "There is no package around the program: import modules by their full names.");
}

/* The names that "from package import ..." binds; 0: there are too many, or the import is of "*". */
static size_t bound_names(asdl_alias_seq *names, const char *out[BOUND_MAX])
{
    size_t count = (size_t)asdl_seq_LEN(names);
    for (size_t i = 0; count <= BOUND_MAX && i < count; i++) {
        alias_ty alias = asdl_seq_GET(names, (Py_ssize_t)i);
        out[i] = text_of(alias->asname ? alias->asname : alias->name);
        if (strcmp(out[i], "*") == 0)
            return 0;
    }
    return count <= BOUND_MAX ? count : 0;
}

static int check_import_from(struct check *l, stmt_ty s, bool tried)
{
    if (s->v.ImportFrom.level > 0)
        return check_relative_import(l, s, tried);
    const char *package = text_of(s->v.ImportFrom.module);
    asdl_alias_seq *names = s->v.ImportFrom.names;
    const char *bound[BOUND_MAX];
    size_t count = bound_names(names, bound);
    int rc = check_binding(l, package, true, tried, WORD(l, s, package), bound, count);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++)
        if (check_imported_name(l, package, asdl_seq_GET(names, i), tried) < 0)
            return -1;
    return 0;
}

/* ---- calls ---- */

/* Functions that take names of attributes. */
static const struct {
    const char *function;
    int first; /* index of the first argument that is a name */
} by_name[] = {
    {"getattr", 1},     {"setattr", 1},      {"delattr", 1},        {"hasattr", 1},
    {"attrgetter", 0},  {"methodcaller", 0}, {"__getattr__", 0},    {"__getattribute__", 0},
    {"__setattr__", 0}, {"__delattr__", 0},  {"getattr_static", 1},
};

/* Checks each name of "a.b.c", as attrgetter takes it. */
static int check_attribute_path(struct check *l, const char *path, struct hc_span at)
{
    while (*path) {
        char name[256];
        size_t len = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), path);
        if (check_attribute(l, name, at) < 0)
            return -1;
        path += len + (path[len] == '.');
    }
    return 0;
}

static int check_attribute_call(struct check *l, expr_ty call, const char *function)
{
    asdl_expr_seq *args = call->v.Call.args;
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++) {
        if (!args || strcmp(function, by_name[i].function) != 0)
            continue;
        for (Py_ssize_t n = by_name[i].first; n < asdl_seq_LEN(args); n++) {
            expr_ty arg = asdl_seq_GET(args, n);
            if (check_attribute_path(l, constant_text(arg), WHOLE(l, arg)) < 0)
                return -1;
        }
    }
    return 0;
}

/* __import__("x") and importlib.import_module("x") */
static int check_import_call(struct check *l, expr_ty call, const char *function, bool tried)
{
    static const char *const importers[] = {"__import__", "import_module", NULL};
    asdl_expr_seq *args = call->v.Call.args;
    if (!is_one_of(function, importers) || asdl_seq_LEN(args) == 0)
        return 0;
    expr_ty arg = asdl_seq_GET(args, 0);
    const char *dotted = constant_text(arg);
    return *dotted && check_module(l, dotted, true, tried, WHOLE(l, arg)) < 0 ? -1 : 0;
}

static int check_denied_call(struct check *l, expr_ty callee)
{
    const char *name = callee->kind == Name_kind ? text_of(callee->v.Name.id) : "";
    if (!*name || !hc_names_has(&hc_guard.calls.deny, name))
        return 0;
    return add_refusal(l, "calls", WHOLE(l, callee), hc_guard.calls.message, name, hc_hint_for_call(name));
}

static int check_file_call(struct check *l, expr_ty callee, const char *function)
{
    static const char *const of_files[] = {"open", "file", "read", "write", NULL};
    if (callee->kind == Attribute_kind && strcmp(function, "savefig") == 0)
        l->saves = true;
    if (!l->file_calls || !is_one_of(function, of_files))
        return 0;
    char message[64];
    (void)snprintf(message, sizeof message, "File operation detected: %s(", function);
    return add_warning(l, "file_calls", WHOLE(l, callee), message);
}

static int check_call(struct check *l, expr_ty call, bool tried)
{
    expr_ty callee = call->v.Call.func;
    const char *function = last_name(callee);
    l->called = callee;
    if (check_denied_call(l, callee) < 0 || check_import_call(l, call, function, tried) < 0 ||
        check_attribute_call(l, call, function) < 0)
        return -1;
    return check_file_call(l, callee, function);
}

/* ---- texts ---- */

/* Checks the attributes in a field of what may be a format string, "{0.__class__}". `at` points behind the
 * brace; returns the end of the field's name. */
static const char *check_field(struct check *l, const char *at, struct hc_span place, int *rc)
{
    static const char name_ends[] = ".[!:{}";
    at += strcspn(at, name_ends);
    while (*rc == 0 && (*at == '.' || *at == '[')) {
        if (*at == '[') {
            at += strcspn(at, "]");
            at += *at == ']';
            continue;
        }
        char name[128];
        size_t len = strcspn(++at, name_ends);
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), at);
        *rc = check_attribute(l, name, place);
        at += len;
    }
    return at;
}

static int check_constant(struct check *l, expr_ty e)
{
    int rc = 0;
    const char *at = constant_text(e);
    while (rc == 0 && (at = strchr(at, '{')))
        at = at[1] == '{' ? at + 2 : check_field(l, at + 1, WHOLE(l, e), &rc);
    return rc;
}

/* ---- statements and other nodes ---- */

static int refuse_statement(struct check *l, const char *what, struct hc_span at)
{
    return add_refusal(l, "statements", at, "'{name}' is not allowed by this policy", what,
                       "Write the program's steps one after another, without it.");
}

/* `word` stands at or near the beginning of the node. */
#define CHECK_BAN(l, node, what, word)                                                                       \
    (hc_names_has(&hc_guard.code.ban, what) ? refuse_statement(l, what, WORD(l, node, word)) : 0)

/* The name of a statement in code.ban, beside "async"; NULL if it cannot be banned. */
static const char *statement_word(stmt_ty s)
{
    switch (s->kind) {
    case FunctionDef_kind:
    case AsyncFunctionDef_kind:
        return "def";
    case ClassDef_kind:
        return "class";
    case Global_kind:
        return "global";
    case Nonlocal_kind:
        return "nonlocal";
    default:
        return NULL;
    }
}

static int check_statement_word(struct check *l, stmt_ty s)
{
    const char *word = statement_word(s);
    bool async = s->kind == AsyncFunctionDef_kind || s->kind == AsyncFor_kind || s->kind == AsyncWith_kind;
    if (async && CHECK_BAN(l, s, "async", "async") < 0)
        return -1;
    return word ? CHECK_BAN(l, s, word, word) : 0;
}

static int check_loop(struct check *l, stmt_ty s)
{
    expr_ty test = s->v.While.test;
    if (test->kind != Constant_kind || PyObject_IsTrue(test->v.Constant.value) != 1 ||
        !hc_names_has(&hc_guard.code.warn, "infinite_loop"))
        return 0;
    return add_warning(l, "infinite_loop", WORD(l, s, "while"), "Potential infinite loop detected");
}

static int check_statement(struct check *l, stmt_ty s, bool tried)
{
    if (check_statement_word(l, s) < 0)
        return -1;
    const char *name;
    switch (s->kind) {
    case FunctionDef_kind:
    case AsyncFunctionDef_kind: /* its struct is that of a FunctionDef */
        name = text_of(s->v.FunctionDef.name);
        return CHECK_NAME(l, s, name);
    case ClassDef_kind:
        name = text_of(s->v.ClassDef.name);
        return CHECK_NAME(l, s, name);
    case Import_kind:
        return check_import(l, s->v.Import.names, tried);
    case ImportFrom_kind:
        return check_import_from(l, s, tried);
    case Global_kind:
        return check_names(l, s, s->v.Global.names);
    case Nonlocal_kind:
        return check_names(l, s, s->v.Nonlocal.names);
    case While_kind:
        return check_loop(l, s);
    default:
        return 0;
    }
}

/* Attributes of objects that are made of a dict: type(name, bases, {"attribute": value}). */
static int check_keys(struct check *l, expr_ty e)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(e->v.Dict.keys); i++) {
        expr_ty key = asdl_seq_GET(e->v.Dict.keys, i);
        const char *name = constant_text(key);
        if (hc_guard_given_denied(name) && refuse_name(l, name, WHOLE(l, key)) < 0)
            return -1;
    }
    return 0;
}

static int check_expression(struct check *l, expr_ty e, bool tried)
{
    const char *name;
    switch (e->kind) {
    case Name_kind:
        name = text_of(e->v.Name.id);
        return CHECK_NAME(l, e, name);
    case Attribute_kind: {
        name = text_of(e->v.Attribute.attr);
        struct hc_span at = hc_lines_word_before(&l->lines, e->end_lineno, e->end_col_offset, name);
        if (e->v.Attribute.ctx != Load && hc_guard_given_denied(name))
            return refuse_name(l, name, WHOLE(l, e));
        return check_attribute(l, name, at.line ? at : WHOLE(l, e));
    }
    case Dict_kind:
        return check_keys(l, e);
    case Call_kind:
        return check_call(l, e, tried);
    case Constant_kind:
        return check_constant(l, e);
    case Lambda_kind:
        return CHECK_BAN(l, e, "lambda", "lambda");
    case Await_kind:
        return CHECK_BAN(l, e, "async", "await");
    default:
        return 0;
    }
}

static int check_class_pattern(struct check *l, pattern_ty p)
{
    asdl_identifier_seq *names = p->v.MatchClass.kwd_attrs;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        const char *name = text_of(asdl_seq_GET(names, i));
        if (hc_guard_attribute_denied(name) && check_attribute(l, name, WORD(l, p, name)) < 0)
            return -1;
    }
    return 0;
}

static int check_pattern(struct check *l, pattern_ty p)
{
    const char *name;
    switch (p->kind) {
    case MatchClass_kind:
        return check_class_pattern(l, p);
    case MatchMapping_kind:
        name = text_of(p->v.MatchMapping.rest);
        return CHECK_NAME(l, p, name);
    case MatchStar_kind:
        name = text_of(p->v.MatchStar.name);
        return CHECK_NAME(l, p, name);
    case MatchAs_kind:
        name = text_of(p->v.MatchAs.name);
        return CHECK_NAME(l, p, name);
    default:
        return 0;
    }
}

static int check_handler(struct check *l, excepthandler_ty h)
{
    const char *name = text_of(h->v.ExceptHandler.name);
    return CHECK_NAME(l, h, name);
}

static int check_argument(struct check *l, arg_ty a)
{
    const char *name = text_of(a->arg);
    return CHECK_NAME(l, a, name);
}

/* SimpleNamespace(attribute=value) */
static int check_keyword(struct check *l, keyword_ty k)
{
    const char *name = text_of(k->arg);
    return hc_guard_given_denied(name) ? refuse_name(l, name, WHOLE(l, k)) : 0;
}

#if HC_HAS_TYPE_PARAMETERS
/* T in "class C[T]:", P in "def f[**P]():" */
static int check_type_parameter(struct check *l, type_param_ty p)
{
    const char *name = text_of(p->kind == TypeVar_kind     ? p->v.TypeVar.name
                               : p->kind == ParamSpec_kind ? p->v.ParamSpec.name
                                                           : p->v.TypeVarTuple.name);
    return CHECK_NAME(l, p, name);
}
#endif

static int check_node(void *self, const struct hc_tree_node *n)
{
    struct check *l = self;
    if (hc_columns_look(&l->columns, n, n->node == l->called) < 0)
        return PyErr_NoMemory(), -1;
    switch (n->type) {
    case HC_NODE_STATEMENT:
        return check_statement(l, n->node, n->tried);
    case HC_NODE_EXPRESSION:
        return check_expression(l, n->node, n->tried);
    case HC_NODE_PATTERN:
        return check_pattern(l, n->node);
    case HC_NODE_HANDLER:
        return check_handler(l, n->node);
    case HC_NODE_ARGUMENT:
        return check_argument(l, n->node);
    case HC_NODE_KEYWORD:
        return check_keyword(l, n->node);
#if HC_HAS_TYPE_PARAMETERS
    case HC_NODE_TYPE_PARAMETER:
        return check_type_parameter(l, n->node);
#endif
    case HC_NODE_COMPREHENSION:
        return ((comprehension_ty)n->node)->is_async
                   ? CHECK_BAN(l, ((comprehension_ty)n->node)->target, "async", "")
                   : 0;
    default:
        return 0;
    }
}

/* ---- the whole program ---- */

int hc_guard_check_size(const char *utf8, struct hc_findings *out)
{
    int64_t max = hc_guard.code.max_chars;
    if (!hc_guard.on || max == 0 || (int64_t)hc_utf8_count(utf8, strlen(utf8)) <= max)
        return 0;
    struct hc_finding one = {.rule = "code_size",
                             .hint = hc_words_fill("Do it in several programs, and pass data with {input}.")};
    char number[32];
    (void)snprintf(number, sizeof number, "%lld", (long long)max);
    hc_guard_message(one.message, sizeof one.message, hc_guard.code.max_chars_message, number);
    return hc_findings_add(out, &one) < 0 ? (PyErr_NoMemory(), -1) : 0;
}

/* Drops the warnings about file functions for a program that saves figures, as it needs these functions. */
static void drop_file_calls(struct hc_findings *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule, "file_calls") != 0)
            f->items[kept++] = f->items[i];
    f->warnings -= f->count - kept;
    f->count = kept;
}

/* Is `name` the first part of the dotted name `bound`? */
static bool binds_name(const char *bound, const char *name)
{
    size_t len = strlen(name);
    return len && strncmp(bound, name, len) == 0 && (bound[len] == '\0' || bound[len] == '.');
}

static void note_use(struct check *l, const char *name)
{
    for (size_t i = 0; i < l->unused_count; i++)
        for (size_t n = 0; n < l->unused[i].bound_count; n++)
            l->unused[i].used |= binds_name(l->unused[i].bound[n], name);
}

/* Notes names that stand in the program, and strings that are names, as of getattr() and globals(). */
static int look_for_uses(void *self, const struct hc_tree_node *n)
{
    expr_ty e = n->type == HC_NODE_EXPRESSION ? n->node : NULL;
    stmt_ty s = n->type == HC_NODE_STATEMENT ? n->node : NULL;
    if (e && e->kind == Name_kind)
        note_use(self, text_of(e->v.Name.id));
    else if (e)
        note_use(self, constant_text(e));
    asdl_identifier_seq *names = s && s->kind == Global_kind     ? s->v.Global.names
                                 : s && s->kind == Nonlocal_kind ? s->v.Nonlocal.names
                                                                 : NULL;
    for (Py_ssize_t i = 0; names && i < asdl_seq_LEN(names); i++)
        note_use(self, text_of(asdl_seq_GET(names, i)));
    return 0;
}

/* Warns of the imports that were put aside. If the name of one is used, or the program is refused for another
 * reason, all of them are refused, so that the writer of the program gets one list. */
static int judge_unused(struct check *l, mod_ty tree)
{
    if (l->unused_count && hc_tree_walk(tree, look_for_uses, l) < 0)
        return -1;
    bool refused = hc_findings_refuse(l->out);
    for (size_t i = 0; i < l->unused_count; i++)
        refused |= l->unused[i].used;
    for (size_t i = 0; i < l->unused_count; i++) {
        l->unused[i].found.warning = !refused;
        if (add_finding(l, &l->unused[i].found) < 0)
            return -1;
    }
    return 0;
}

int hc_guard_check(mod_ty tree, const char *utf8, struct hc_findings *out)
{
    if (!hc_guard.on)
        return 0;
    struct check l = {.out = out, .file_calls = hc_names_has(&hc_guard.code.warn, "file_calls")};
    if (hc_lines_init(&l.lines, utf8) < 0)
        return PyErr_NoMemory(), -1;
    int rc = hc_tree_walk(tree, check_node, &l);
    if (rc == 0)
        rc = judge_unused(&l, tree);
    if (rc == 0 && l.saves)
        drop_file_calls(out);
    if (rc == 0)
        hc_columns_json(&l.columns, &out->columns);
    hc_findings_close(out, &l.lines);
    hc_columns_finish(&l.columns);
    hc_lines_finish(&l.lines);
    return rc;
}
