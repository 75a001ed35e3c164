#include "shim/guard/picklable.h"

#include "shim/guard/rules.h"

#include <string.h>

/* Functions that run code, load modules or reach files and attributes. "*": all names of the module. */
static const struct {
    const char *module, *names[16];
} refused[] = {
    {"builtins",
     {"eval", "exec", "compile", "open", "__import__", "input", "breakpoint", "globals", "locals", "vars",
      "setattr", "delattr", "memoryview", "exit", "quit"}},
    {"os", {"*"}},
    {"posix", {"*"}},
    {"nt", {"*"}},
    {"sys", {"*"}},
    {"subprocess", {"*"}},
    {"_posixsubprocess", {"*"}},
    {"shutil", {"*"}},
    {"socket", {"*"}},
    {"pty", {"*"}},
    {"ctypes", {"*"}},
    {"_ctypes", {"*"}},
    {"importlib", {"*"}},
    {"_frozen_importlib", {"*"}},
    {"runpy", {"*"}},
    {"code", {"*"}},
    {"codeop", {"*"}},
    {"pdb", {"*"}},
    {"bdb", {"*"}},
    {"timeit", {"*"}},
    {"profile", {"*"}},
    {"cProfile", {"*"}},
    {"trace", {"*"}},
    {"marshal", {"*"}},
    {"types", {"CodeType", "FunctionType", "LambdaType"}},
    {"operator", {"attrgetter", "methodcaller"}},
    {"io", {"open", "open_code", "FileIO"}},
    {"_io", {"open", "open_code", "FileIO"}},
    {"pickle", {"loads", "load", "Unpickler"}},
    {"_pickle", {"loads", "load", "Unpickler"}},
    {"pydoc", {"pipepager", "tempfilepager"}},
    {"webbrowser", {"*"}},
};

/* Modules that pickles of ordinary data name, whatever the program may import. */
static const char *const ordinary[] = {"__main__", "builtins",    "copyreg",
                                       "_codecs",  "collections", "datetime"};

static bool is_refused(const char *module, const char *name)
{
    size_t top = strcspn(module, ".");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strncmp(refused[i].module, module, top) != 0 || refused[i].module[top])
            continue;
        const char *const *names = refused[i].names;
        for (size_t j = 0; j < 16 && names[j]; j++)
            if (strcmp(names[j], "*") == 0 || strcmp(names[j], name) == 0)
                return true;
    }
    return false;
}

/* Does a part of the dotted name name an attribute that is denied to the program? */
static bool is_past_attributes(const char *name)
{
    char part[256];
    for (const char *at = name;; at++) {
        size_t len = strcspn(at, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)(len < sizeof part ? len : sizeof part - 1), at);
        if (len >= sizeof part || hc_guard_attribute_denied(part))
            return true;
        at += len;
        if (!*at)
            return false;
    }
}

bool hc_picklable(const char *module, const char *name)
{
    if (is_refused(module, name) || is_past_attributes(name))
        return false;
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (strcmp(ordinary[i], module) == 0)
            return true;
    if (hc_guard_import_denied(module))
        return false;
    char top[256];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(module, "."), module);
    return !hc_guard_import_refusal(module, true) || !hc_guard_import_refusal(top, true);
}
