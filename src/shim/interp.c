#include "shim/harness/py.h"

#include "policy/policy.h"
#include "shim/harness/frozen.h"
#include "shim/interp.h"

#include <wchar.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define VERSION  TEXT(PY_MAJOR_VERSION) "." TEXT(PY_MINOR_VERSION)
#define STDLIB   L"/usr/lib/python" VERSION /* directory of Python's own modules in a tree */

static int fail_start(PyStatus status, struct hc_error *err)
{
    return hc_fail(err, 0, "start Python: %s", status.err_msg ? status.err_msg : "unknown error");
}

static PyStatus preconfigure(void)
{
    PyPreConfig pre;
    PyPreConfig_InitIsolatedConfig(&pre);
    pre.utf8_mode = 1;
    pre.configure_locale = 1; /* as the python command does: LC_CTYPE from the environment, for C libraries */
    return Py_PreInitialize(&pre);
}

static void set_flags(PyConfig *c, const struct hc_interp_options *options)
{
    c->site_import = 0;
    c->write_bytecode = 0;
    c->parse_argv = 0;
    c->pathconfig_warnings = 0;
    c->install_signal_handlers = 1;
    c->faulthandler = 1;
    c->buffered_stdio = 0; /* output printed before a kill is not lost */
    c->use_frozen_modules = 1;
    if (options->seeded) {
        c->use_hash_seed = 1;
        c->hash_seed = options->seed;
    }
}

/* Appends the directories of the tree's layers, in their order: modules of the tree itself are found first.
 */
static PyStatus append_layers(PyConfig *c, const char *layers)
{
    static const wchar_t sign[] = {HC_LAYER_SIGN, L'\0'};
    wchar_t names[256], place[sizeof HC_LAYERS_PLACE + HC_LAYER_NAME], *next = names;
    PyStatus status = PyStatus_Ok();
    if (mbstowcs(names, layers, sizeof names / sizeof *names) >= sizeof names / sizeof *names)
        return PyStatus_Error("the names of the layers are too long");
    for (const wchar_t *name; !PyStatus_Exception(status) && (name = wcstok(next, sign, &next));) {
        (void)swprintf(place, sizeof place / sizeof *place, L"" HC_LAYERS_PLACE "/%ls", name);
        status = PyWideStringList_Append(&c->module_search_paths, place);
    }
    return status;
}

/* Sets every path that the interpreter would otherwise search for. "home" keeps it from reading files (such
 * as pyvenv.cfg) by which the working directory could change the paths. */
static PyStatus set_places(PyConfig *c, const char *layers)
{
    static const wchar_t *const search[] = {STDLIB, STDLIB L"/lib-dynload",
                                            L"/usr/lib/python3/dist-packages"};
    const struct {
        wchar_t **field;
        const wchar_t *value;
    } places[] = {
        {&c->home, L"/usr"},        {&c->program_name, L"python3"}, {&c->prefix, L"/usr"},
        {&c->base_prefix, L"/usr"}, {&c->exec_prefix, L"/usr"},     {&c->base_exec_prefix, L"/usr"},
    };
    PyStatus status = PyStatus_Ok();
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !PyStatus_Exception(status); i++)
        status = PyConfig_SetString(c, places[i].field, places[i].value);
    c->module_search_paths_set = 1;
    for (size_t i = 0; i < sizeof search / sizeof search[0] && !PyStatus_Exception(status); i++)
        status = PyWideStringList_Append(&c->module_search_paths, search[i]);
    return PyStatus_Exception(status) ? status : append_layers(c, layers);
}

static PyStatus configure(PyConfig *c, const struct hc_interp_options *options)
{
    char *argv[] = {strdup(options->filename)}; /* PyConfig_SetBytesArgv takes no const text, and copies it */
    set_flags(c, options);
    PyStatus status = set_places(c, options->layers);
    if (!PyStatus_Exception(status))
        status = argv[0] ? PyConfig_SetBytesArgv(c, 1, argv) : PyStatus_NoMemory();
    free(argv[0]);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(c);
    return status;
}

/* exit() and quit(), which the module site would define; importing site costs too much time. */
static PyObject *builtin_exit(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *code = Py_None; /* borrowed */
    if (!PyArg_ParseTuple(args, "|O", &code))
        return NULL;
    PyErr_SetObject(PyExc_SystemExit, code);
    return NULL;
}

static PyObject *builtin_help(PyObject *self, PyObject *args, PyObject *named)
{
    (void)self;
    hc_autopy *module = PyImport_ImportModule("_sitebuiltins");
    hc_autopy *helper = module ? PyObject_CallMethod(module, "_Helper", NULL) : NULL;
    return helper ? PyObject_Call(helper, args, named) : NULL;
}

static int add_builtins(void)
{
    static PyMethodDef functions[] = {
        {"exit", builtin_exit, METH_VARARGS, "exit(code=None): end the program."},
        {"quit", builtin_exit, METH_VARARGS, "quit(code=None): end the program."},
        {"help", (PyCFunction)(void (*)(void))builtin_help, METH_VARARGS | METH_KEYWORDS,
         "help(object): print its documentation."},
        {0},
    };
    PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
    for (PyMethodDef *f = functions; f->ml_name; f++) {
        hc_autopy *function = PyCFunction_NewEx(f, NULL, NULL);
        if (!function || PyDict_SetItemString(builtins, f->ml_name, function) < 0)
            return -1;
    }
    return 0;
}

/* Sets the path of the frozen package encodings, so that codecs that are not frozen are found in the library.
 */
static int correct_encodings(void)
{
    hc_autopy *package = PyImport_ImportModule("encodings");
    hc_autopy *place = PyUnicode_FromWideChar(STDLIB L"/encodings", -1);
    hc_autopy *path = place ? Py_BuildValue("[O]", place) : NULL;
    return package && path ? PyObject_SetAttrString(package, "__path__", path) : -1;
}

/* Sets paths that the configuration cannot set: the interpreter would search for an empty executable, and
 * drops the directory of the standard library, from which frozen modules such as os have their __file__. */
static int correct_places(void)
{
    hc_autopy *none = PyUnicode_FromString("");
    hc_autopy *stdlib = PyUnicode_FromWideChar(STDLIB, -1);
    if (!none || !stdlib || correct_encodings() < 0)
        return -1;
    return PySys_SetObject("executable", none) < 0 || PySys_SetObject("_base_executable", none) < 0 ||
                   PySys_SetObject("_stdlib_dir", stdlib) < 0
               ? -1
               : 0;
}

int hc_interp_start(const struct hc_interp_options *options, struct hc_error *err)
{
    hc_frozen_register();
    PyStatus status = preconfigure();
    if (PyStatus_Exception(status))
        return fail_start(status, err);
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    status = configure(&config, options);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        return fail_start(status, err);
    if (correct_places() < 0)
        return hc_fail(err, 0, "start Python: places");
    if (add_builtins() < 0)
        return hc_fail(err, 0, "start Python: builtins");
    return 0;
}
