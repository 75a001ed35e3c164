/* The rules of a policy, applied to a program's tree. Each look_* function judges one kind of node. */
#include "shim/guard/tree.h"

#include "base/utf8.h"
#include "shim/guard/columns.h"
#include "shim/guard/guard.h"
#include "shim/guard/hints.h"

struct look {
    struct hc_findings *out;
    struct hc_lines lines;
    struct hc_columns columns;
    expr_ty called;         /* what the last call that was visited calls */
    bool file_calls, saves; /* the warning is asked for; plt.savefig is called somewhere */
};

/* ---- what is found ---- */

static int add(struct look *l, struct hc_finding *one)
{
    return hc_findings_add(l->out, one) < 0 ? (PyErr_NoMemory(), -1) : 0;
}

/* `template` is the policy's, with {name}. */
static int refuse(struct look *l, const char *rule, struct hc_place at, const char *template,
                  const char *name, const char *hint)
{
    struct hc_finding one = {.rule = rule, .hint = hint, .at = at};
    (void)snprintf(one.what, sizeof one.what, "%s", name);
    hc_guard_message(one.message, sizeof one.message, template, name);
    return add(l, &one);
}

static int warn(struct look *l, const char *rule, struct hc_place at, const char *message)
{
    struct hc_finding one = {.rule = rule, .at = at, .warning = true};
    (void)snprintf(one.message, sizeof one.message, "%s", message);
    return add(l, &one);
}

/* ---- where ---- */

#define WHOLE(l, node)                                                                                       \
    hc_lines_place(&(l)->lines, (node)->lineno, (node)->col_offset, (node)->end_lineno,                      \
                   (node)->end_col_offset)
#define WORD(l, node, word) hc_lines_word(&(l)->lines, (node)->lineno, (node)->col_offset, word)

/* An identifier's text; "" for what is none. */
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

static int refuse_name(struct look *l, const char *name, struct hc_place at)
{
    return refuse(l, "names", at, hc_guard.names.message, name, hc_hint_for_attribute(name));
}

/* A name somewhere in the line of `node`. Where, is looked for only if that matters: a line can be long. */
#define LOOK_AT_NAME(l, node, name) (name_denied(name) ? refuse_name(l, name, WORD(l, node, name)) : 0)

static int look_at_names(struct look *l, stmt_ty s, asdl_identifier_seq *names)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        const char *name = text_of(asdl_seq_GET(names, i));
        if (LOOK_AT_NAME(l, s, name) < 0)
            return -1;
    }
    return 0;
}

static int look_at_attribute(struct look *l, const char *name, struct hc_place at)
{
    if (!*name || !hc_guard_attribute_denied(name))
        return 0;
    return refuse(l, "attributes", at, hc_guard.attributes.message, name, hc_hint_for_attribute(name));
}

/* ---- imports ---- */

/* An import that the program expects to fail may fail when it runs: it has something else then. Where only
 * listed modules may be imported, a program that tries others is refused at once. */
static bool left_to_run_time(bool tried)
{
    return tried && hc_guard.imports.at_run && !hc_guard.imports.allow.given;
}

/* 1: refused. */
static int look_at_module(struct look *l, const char *dotted, bool from, bool tried, struct hc_place at)
{
    if (!hc_guard.imports.at_check || left_to_run_time(tried))
        return 0;
    const char *message = hc_guard_import_refusal(dotted, from);
    if (!message)
        return 0;
    return refuse(l, "imports", at, message, dotted, hc_hint_for_module(dotted)) < 0 ? -1 : 1;
}

static int look_at_import(struct look *l, asdl_alias_seq *names, bool tried)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        alias_ty alias = asdl_seq_GET(names, i);
        const char *dotted = text_of(alias->name);
        int rc = look_at_module(l, dotted, false, tried, WORD(l, alias, dotted));
        char bound[256];
        (void)snprintf(bound, sizeof bound, "%.*s", (int)strcspn(dotted, "."), dotted);
        const char *as = text_of(alias->asname);
        if (rc == 0)
            rc = LOOK_AT_NAME(l, alias, *as ? as : bound);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* "from package import module" imports package.module, if that is denied by its name. */
static int look_at_imported(struct look *l, const char *package, alias_ty alias, bool tried)
{
    char dotted[512];
    const char *name = text_of(alias->name), *as = text_of(alias->asname);
    (void)snprintf(dotted, sizeof dotted, "%s.%s", package, name);
    if (hc_guard_import_denied(dotted))
        return look_at_module(l, dotted, true, tried, WHOLE(l, alias));
    if (look_at_attribute(l, name, WHOLE(l, alias)) < 0)
        return -1;
    return LOOK_AT_NAME(l, alias, *as ? as : name);
}

static int look_at_relative_import(struct look *l, stmt_ty s, bool tried)
{
    char name[256];
    const char *module = text_of(s->v.ImportFrom.module);
    int dots = s->v.ImportFrom.level < 8 ? s->v.ImportFrom.level : 8;
    (void)snprintf(name, sizeof name, "%.*s%s", dots, "........", module);
    if (!hc_guard.imports.at_check || left_to_run_time(tried))
        return 0;
    return refuse(l, "imports", WORD(l, s, "."), hc_guard.imports.message, name,
                  "There is no package around the program: import modules by their full names.");
}

static int look_at_import_from(struct look *l, stmt_ty s, bool tried)
{
    if (s->v.ImportFrom.level > 0)
        return look_at_relative_import(l, s, tried);
    const char *package = text_of(s->v.ImportFrom.module);
    int rc = look_at_module(l, package, true, tried, WORD(l, s, package));
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    asdl_alias_seq *names = s->v.ImportFrom.names;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++)
        if (look_at_imported(l, package, asdl_seq_GET(names, i), tried) < 0)
            return -1;
    return 0;
}

/* ---- calls ---- */

/* Functions that take an attribute's name, and from which argument on. */
static const struct {
    const char *function;
    int first;
} by_name[] = {
    {"getattr", 1},     {"setattr", 1},      {"delattr", 1},        {"hasattr", 1},
    {"attrgetter", 0},  {"methodcaller", 0}, {"__getattr__", 0},    {"__getattribute__", 0},
    {"__setattr__", 0}, {"__delattr__", 0},  {"getattr_static", 1},
};

/* "a.b.c", as attrgetter takes it. */
static int look_at_path(struct look *l, const char *path, struct hc_place at)
{
    while (*path) {
        char name[256];
        size_t len = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), path);
        if (look_at_attribute(l, name, at) < 0)
            return -1;
        path += len + (path[len] == '.');
    }
    return 0;
}

static int look_at_attribute_call(struct look *l, expr_ty call, const char *function)
{
    asdl_expr_seq *args = call->v.Call.args;
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++) {
        if (!args || strcmp(function, by_name[i].function) != 0)
            continue;
        for (Py_ssize_t n = by_name[i].first; n < asdl_seq_LEN(args); n++) {
            expr_ty arg = asdl_seq_GET(args, n);
            if (look_at_path(l, constant_text(arg), WHOLE(l, arg)) < 0)
                return -1;
        }
    }
    return 0;
}

/* __import__("x") and importlib.import_module("x") */
static int look_at_import_call(struct look *l, expr_ty call, const char *function, bool tried)
{
    static const char *const importers[] = {"__import__", "import_module", NULL};
    asdl_expr_seq *args = call->v.Call.args;
    if (!is_one_of(function, importers) || asdl_seq_LEN(args) == 0)
        return 0;
    expr_ty arg = asdl_seq_GET(args, 0);
    const char *dotted = constant_text(arg);
    return *dotted && look_at_module(l, dotted, true, tried, WHOLE(l, arg)) < 0 ? -1 : 0;
}

static int look_at_denied_call(struct look *l, expr_ty callee)
{
    const char *name = callee->kind == Name_kind ? text_of(callee->v.Name.id) : "";
    if (!*name || !hc_names_has(&hc_guard.calls.deny, name))
        return 0;
    return refuse(l, "calls", WHOLE(l, callee), hc_guard.calls.message, name, hc_hint_for_call(name));
}

static int look_at_file_call(struct look *l, expr_ty callee, const char *function)
{
    static const char *const of_files[] = {"open", "file", "read", "write", NULL};
    if (callee->kind == Attribute_kind && strcmp(function, "savefig") == 0)
        l->saves = true;
    if (!l->file_calls || !is_one_of(function, of_files))
        return 0;
    char message[64];
    (void)snprintf(message, sizeof message, "File operation detected: %s", function);
    return warn(l, "file_calls", WHOLE(l, callee), message);
}

static int look_at_call(struct look *l, expr_ty call, bool tried)
{
    expr_ty callee = call->v.Call.func;
    const char *function = last_name(callee);
    l->called = callee;
    if (look_at_denied_call(l, callee) < 0 || look_at_import_call(l, call, function, tried) < 0 ||
        look_at_attribute_call(l, call, function) < 0)
        return -1;
    return look_at_file_call(l, callee, function);
}

/* ---- texts ---- */

/* Attributes in the fields of what may be a format string: "{0.__class__}". Called with `at` behind a brace;
 * returns where the field's name ends. */
static const char *look_at_field(struct look *l, const char *at, struct hc_place place, int *rc)
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
        *rc = look_at_attribute(l, name, place);
        at += len;
    }
    return at;
}

static int look_at_constant(struct look *l, expr_ty e)
{
    int rc = 0;
    const char *at = constant_text(e);
    while (rc == 0 && (at = strchr(at, '{')))
        at = at[1] == '{' ? at + 2 : look_at_field(l, at + 1, WHOLE(l, e), &rc);
    return rc;
}

/* ---- statements and the like ---- */

static int refuse_statement(struct look *l, const char *what, struct hc_place at)
{
    return refuse(l, "statements", at, "'{name}' is not allowed by this policy", what,
                  "Write the program's steps one after another, without it.");
}

/* `word` is what it begins with, or has soon. */
#define LOOK_AT_BAN(l, node, what, word)                                                                     \
    (hc_names_has(&hc_guard.code.ban, what) ? refuse_statement(l, what, WORD(l, node, word)) : 0)

/* What a statement is called in code.ban, beside "async"; NULL if it cannot be banned. */
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

static int look_at_statement_word(struct look *l, stmt_ty s)
{
    const char *word = statement_word(s);
    bool async = s->kind == AsyncFunctionDef_kind || s->kind == AsyncFor_kind || s->kind == AsyncWith_kind;
    if (async && LOOK_AT_BAN(l, s, "async", "async") < 0)
        return -1;
    return word ? LOOK_AT_BAN(l, s, word, word) : 0;
}

static int look_at_loop(struct look *l, stmt_ty s)
{
    expr_ty test = s->v.While.test;
    if (test->kind != Constant_kind || PyObject_IsTrue(test->v.Constant.value) != 1 ||
        !hc_names_has(&hc_guard.code.warn, "infinite_loop"))
        return 0;
    return warn(l, "infinite_loop", WORD(l, s, "while"), "Potential infinite loop detected");
}

static int look_at_statement(struct look *l, stmt_ty s, bool tried)
{
    if (look_at_statement_word(l, s) < 0)
        return -1;
    const char *name;
    switch (s->kind) {
    case FunctionDef_kind:
    case AsyncFunctionDef_kind: /* the same struct */
        name = text_of(s->v.FunctionDef.name);
        return LOOK_AT_NAME(l, s, name);
    case ClassDef_kind:
        name = text_of(s->v.ClassDef.name);
        return LOOK_AT_NAME(l, s, name);
    case Import_kind:
        return look_at_import(l, s->v.Import.names, tried);
    case ImportFrom_kind:
        return look_at_import_from(l, s, tried);
    case Global_kind:
        return look_at_names(l, s, s->v.Global.names);
    case Nonlocal_kind:
        return look_at_names(l, s, s->v.Nonlocal.names);
    case While_kind:
        return look_at_loop(l, s);
    default:
        return 0;
    }
}

/* Attributes of objects that are made of a dict: type(name, bases, {"attribute": value}). */
static int look_at_keys(struct look *l, expr_ty e)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(e->v.Dict.keys); i++) {
        expr_ty key = asdl_seq_GET(e->v.Dict.keys, i);
        const char *name = constant_text(key);
        if (hc_guard_given_denied(name) && refuse_name(l, name, WHOLE(l, key)) < 0)
            return -1;
    }
    return 0;
}

static int look_at_expression(struct look *l, expr_ty e, bool tried)
{
    const char *name;
    switch (e->kind) {
    case Name_kind:
        name = text_of(e->v.Name.id);
        return LOOK_AT_NAME(l, e, name);
    case Attribute_kind: {
        name = text_of(e->v.Attribute.attr);
        struct hc_place at = hc_lines_word_before(&l->lines, e->end_lineno, e->end_col_offset, name);
        if (e->v.Attribute.ctx != Load && hc_guard_given_denied(name))
            return refuse_name(l, name, WHOLE(l, e));
        return look_at_attribute(l, name, at.line ? at : WHOLE(l, e));
    }
    case Dict_kind:
        return look_at_keys(l, e);
    case Call_kind:
        return look_at_call(l, e, tried);
    case Constant_kind:
        return look_at_constant(l, e);
    case Lambda_kind:
        return LOOK_AT_BAN(l, e, "lambda", "lambda");
    case Await_kind:
        return LOOK_AT_BAN(l, e, "async", "await");
    default:
        return 0;
    }
}

static int look_at_class_pattern(struct look *l, pattern_ty p)
{
    asdl_identifier_seq *names = p->v.MatchClass.kwd_attrs;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        const char *name = text_of(asdl_seq_GET(names, i));
        if (hc_guard_attribute_denied(name) && look_at_attribute(l, name, WORD(l, p, name)) < 0)
            return -1;
    }
    return 0;
}

static int look_at_pattern(struct look *l, pattern_ty p)
{
    const char *name;
    switch (p->kind) {
    case MatchClass_kind:
        return look_at_class_pattern(l, p);
    case MatchMapping_kind:
        name = text_of(p->v.MatchMapping.rest);
        return LOOK_AT_NAME(l, p, name);
    case MatchStar_kind:
        name = text_of(p->v.MatchStar.name);
        return LOOK_AT_NAME(l, p, name);
    case MatchAs_kind:
        name = text_of(p->v.MatchAs.name);
        return LOOK_AT_NAME(l, p, name);
    default:
        return 0;
    }
}

static int look_at_handler(struct look *l, excepthandler_ty h)
{
    const char *name = text_of(h->v.ExceptHandler.name);
    return LOOK_AT_NAME(l, h, name);
}

static int look_at_argument(struct look *l, arg_ty a)
{
    const char *name = text_of(a->arg);
    return LOOK_AT_NAME(l, a, name);
}

/* SimpleNamespace(attribute=value) */
static int look_at_keyword(struct look *l, keyword_ty k)
{
    const char *name = text_of(k->arg);
    return hc_guard_given_denied(name) ? refuse_name(l, name, WHOLE(l, k)) : 0;
}

static int look(void *self, const struct hc_tree_node *n)
{
    struct look *l = self;
    if (hc_columns_look(&l->columns, n, n->node == l->called) < 0)
        return PyErr_NoMemory(), -1;
    switch (n->type) {
    case HC_NODE_STATEMENT:
        return look_at_statement(l, n->node, n->tried);
    case HC_NODE_EXPRESSION:
        return look_at_expression(l, n->node, n->tried);
    case HC_NODE_PATTERN:
        return look_at_pattern(l, n->node);
    case HC_NODE_HANDLER:
        return look_at_handler(l, n->node);
    case HC_NODE_ARGUMENT:
        return look_at_argument(l, n->node);
    case HC_NODE_KEYWORD:
        return look_at_keyword(l, n->node);
    case HC_NODE_COMPREHENSION:
        return ((comprehension_ty)n->node)->is_async
                   ? LOOK_AT_BAN(l, ((comprehension_ty)n->node)->target, "async", "")
                   : 0;
    default:
        return 0;
    }
}

/* ---- the whole ---- */

int hc_guard_check_size(const char *utf8, struct hc_findings *out)
{
    int64_t max = hc_guard.code.max_chars;
    if (!hc_guard.on || max == 0 || (int64_t)hc_utf8_count(utf8, strlen(utf8)) <= max)
        return 0;
    struct hc_finding one = {.rule = "code_size",
                             .hint = "Do it in several programs, and pass data with --input."};
    char number[32];
    (void)snprintf(number, sizeof number, "%lld", (long long)max);
    hc_guard_message(one.message, sizeof one.message, hc_guard.code.max_chars_message, number);
    return hc_findings_add(out, &one) < 0 ? (PyErr_NoMemory(), -1) : 0;
}

/* A program that saves figures has its reasons to touch files. */
static void drop_file_calls(struct hc_findings *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule, "file_calls") != 0)
            f->items[kept++] = f->items[i];
    f->warnings -= f->count - kept;
    f->count = kept;
}

int hc_guard_check(mod_ty tree, const char *utf8, struct hc_findings *out)
{
    if (!hc_guard.on)
        return 0;
    struct look l = {.out = out, .file_calls = hc_names_has(&hc_guard.code.warn, "file_calls")};
    if (hc_lines_init(&l.lines, utf8) < 0)
        return PyErr_NoMemory(), -1;
    int rc = hc_tree_walk(tree, look, &l);
    if (rc == 0 && l.saves)
        drop_file_calls(out);
    if (rc == 0)
        hc_columns_json(&l.columns, &out->columns);
    hc_findings_close(out, &l.lines);
    hc_columns_finish(&l.columns);
    hc_lines_finish(&l.lines);
    return rc;
}
