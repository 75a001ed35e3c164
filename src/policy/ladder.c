#include "policy/ladder.h"

#include "base/buf.h"
#include "policy/rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_READ 65536 /* most bytes of a program that are read; a longer one may need all modules */
#define MAX_NAME 64    /* most bytes of a name that is looked at, with its NUL; longer ones are cut */

/* ---- modules ---- */

/* Modules that need none of a ladder's: the standard library's of Python 3.10 to 3.13, sorted. */
static const char *const standard_modules[] = {
    /* clang-format off */
    "__future__", "_io", "_thread", "abc", "aifc", "argparse", "array", "ast", "asynchat", "asyncio",
    "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile",
    "calendar", "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop", "collections",
    "colorsys", "compileall", "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg",
    "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis",
    "distutils", "doctest", "email", "encodings", "ensurepip", "enum", "errno", "faulthandler", "fcntl",
    "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc", "genericpath", "getopt",
    "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac", "html", "http",
    "imaplib", "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword",
    "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap",
    "modulefinder", "multiprocessing", "netrc", "nis", "nntplib", "ntpath", "nturl2path", "numbers",
    "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle", "pickletools",
    "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath", "pprint", "profile",
    "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pyexpat", "queue", "quopri", "random", "re",
    "readline", "reprlib", "resource", "rlcompleter", "runpy", "sched", "secrets", "select", "selectors",
    "shelve", "shlex", "shutil", "signal", "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver",
    "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics", "string",
    "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog", "tabnanny",
    "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "threading", "time", "timeit", "tkinter",
    "token", "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "turtle", "types", "typing",
    "unicodedata", "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser",
    "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo"
    /* clang-format on */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool is_standard(const char *name)
{
    return bsearch(name, standard_modules, sizeof standard_modules / sizeof *standard_modules,
                   sizeof *standard_modules, compare_names);
}

static const cJSON *ladder_of(const cJSON *rules)
{
    return hc_rules_get(rules, "warm", "ladder");
}

/* Is `name` in the rung's list `key`? Of a module such as "matplotlib.pyplot" the first part counts. */
static bool lists(const cJSON *rung, const char *key, const char *name)
{
    const size_t len = strlen(name);
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(rung, key))
    {
        const char *text = item->valuestring;
        if (strncmp(text, name, len) == 0 && (!text[len] || text[len] == '.'))
            return true;
    }
    return false;
}

/* The lowest rung that lists the name; -1: none does. */
static int find_rung(const cJSON *ladder, const char *name)
{
    int at = 0;
    const cJSON *rung;
    cJSON_ArrayForEach(rung, ladder)
    {
        if (lists(rung, "imports", name) || lists(rung, "words", name))
            return at;
        at++;
    }
    return -1;
}

size_t hc_ladder_height(const cJSON *rules)
{
    int height = cJSON_GetArraySize(ladder_of(rules));
    return height > 0 ? (size_t)height : 1;
}

static bool loads(const cJSON *row)
{
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(row, "imports")) > 0 ||
           cJSON_GetObjectItemCaseSensitive(row, "code");
}

bool hc_ladder_loads(const cJSON *rules, size_t rung)
{
    const cJSON *ladder = ladder_of(rules);
    if (!ladder)
        return loads(cJSON_GetObjectItemCaseSensitive(rules, "warm"));
    for (size_t i = 0; i <= rung; i++)
        if (loads(cJSON_GetArrayItem(ladder, (int)i)))
            return true;
    return false;
}

size_t hc_ladder_rung_of(const cJSON *rules, const char *name)
{
    int rung = find_rung(ladder_of(rules), name);
    return rung < 0 ? hc_ladder_height(rules) - 1 : (size_t)rung;
}

/* ---- a program's text ---- */

/* What the name that comes next stands for. */
enum expected {
    EXPECT_STATEMENT, /* the first word of a statement */
    EXPECT_MODULE,    /* a module, after "import", "from" or a comma */
    EXPECT_AS,        /* the rest of a module's name, or its other name */
    EXPECT_ANY,       /* a word of any other kind */
};

/* A program's text while it is read. It is read word by word, also in texts and comments: there a word is as
 * likely to be code for later. */
struct reading {
    const cJSON *ladder;    /* borrowed */
    size_t top, rung;       /* the highest rung; the highest one needed so far */
    enum expected expected; /* about the next word */
    bool lists_modules;     /* in an import statement, in which a comma is followed by another module */
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void read_word(struct reading *r, const char *word)
{
    const enum expected expected = r->expected;
    const int rung = find_rung(r->ladder, word);
    if (rung >= 0)
        r->rung = MAX(r->rung, (size_t)rung);
    else if (expected == EXPECT_MODULE && !is_standard(word))
        r->rung = r->top;
    r->lists_modules = expected == EXPECT_STATEMENT ? strcmp(word, "import") == 0 : r->lists_modules;
    if (expected == EXPECT_STATEMENT && (r->lists_modules || strcmp(word, "from") == 0))
        r->expected = EXPECT_MODULE;
    else
        r->expected = expected == EXPECT_MODULE ? EXPECT_AS : EXPECT_ANY;
}

static void read_mark(struct reading *r, char mark)
{
    if (mark == '\n' || mark == ';' || mark == ':')
        r->expected = EXPECT_STATEMENT;
    else if (mark == ',' && r->lists_modules)
        r->expected = EXPECT_MODULE;
    else if (mark == '.' && r->expected == EXPECT_MODULE)
        r->rung = r->top; /* a module beside the program */
    if (r->expected == EXPECT_STATEMENT)
        r->lists_modules = false;
}

static bool has_prelude(const cJSON *rules)
{
    return hc_rules_get(rules, "prelude", "names") || hc_rules_get(rules, "prelude", "code");
}

size_t hc_ladder_rung(const cJSON *rules, const char *code, size_t len)
{
    struct reading r = {.ladder = ladder_of(rules), .top = hc_ladder_height(rules) - 1};
    if (has_prelude(rules) || len > MAX_READ)
        return r.top;
    for (size_t at = 0; at < len && r.rung < r.top;) {
        char word[MAX_NAME];
        size_t size = 0;
        while (at + size < len && is_letter(code[at + size]))
            size++;
        if (!size) {
            read_mark(&r, code[at++]);
            continue;
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)MIN(size, sizeof word), code + at);
        read_word(&r, word);
        at += size;
    }
    return r.rung;
}

/* ---- the rules of a rung ---- */

/* Adds the imports and the code of one rung. */
static bool add_rung(cJSON *imports, struct hc_buf *code, const cJSON *rung)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(rung, "imports"))
    {
        cJSON *copy = cJSON_Duplicate(item, true);
        if (!copy || !cJSON_AddItemToArray(imports, copy))
            return false;
    }
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rung, "code"));
    return !text || hc_buf_fmt(code, "%s\n", text) == 0;
}

/* Fills the section "warm" with what a rung has; false: no memory. */
static bool fill_warm(cJSON *warm, const cJSON *ladder, size_t rung)
{
    hc_autobuf code = {0};
    cJSON *imports = cJSON_AddArrayToObject(warm, "imports");
    for (size_t i = 0; imports && i <= rung; i++)
        if (!add_rung(imports, &code, cJSON_GetArrayItem(ladder, (int)i)))
            return false;
    const cJSON *sample = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(ladder, (int)rung), "sample");
    return imports && (!code.len || cJSON_AddStringToObject(warm, "code", code.data)) &&
           (!sample || cJSON_AddStringToObject(warm, "sample", sample->valuestring));
}

cJSON *hc_ladder_rules(const cJSON *rules, size_t rung)
{
    const cJSON *ladder = ladder_of(rules);
    cJSON *copy = rules ? cJSON_Duplicate(rules, true) : NULL;
    if (!copy || !ladder)
        return copy;
    cJSON *warm = cJSON_GetObjectItemCaseSensitive(copy, "warm");
    cJSON_DeleteItemFromObjectCaseSensitive(warm, "ladder");
    if (fill_warm(warm, ladder, rung))
        return copy;
    cJSON_Delete(copy);
    return NULL;
}
