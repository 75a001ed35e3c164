#include "shim/guard/hints.h"

#include "shim/guard/rules.h"
#include "shim/guard/zones.h"
#include "shim/harness/words.h"

#include <string.h>

/* A hint (words.h fills its words in) for a name, or with a '*' at its end for all names that begin so; a
 * module's hint is for its submodules too. The first row that fits counts. */
struct hint {
    const char *name, *text; /* static */
};

static const char no_network[] = "Network is off in this policy; pass data with {input}.";
static const char no_processes[] = "There are no other programs in the cell; use Python libraries instead, "
                                   "and threads for work side by side.";
static const char no_native[] = "Native code is not for programs here; use numpy, or plain Python.";
static const char no_files_of_others[] =
    "Read the job's inputs below /input, and write results below /output or /tmp.";
/* The hint for policies that do not let programs write to /tmp. */
static const char no_files_but_output[] =
    "Read the job's inputs below /input, and write results below /output.";
static const char write_below[] = "Write results below /output or /tmp.";
static const char read_only_dir[] =
    "This directory was given read-only ({dir}): have it given with the mode cow, as a copy that may be "
    "changed "
    "(or rw, where the policy's dirs.rw lets it), or write results below /output.";
static const char write_output[] = "Write results below /output.";
/* The hints for policies that let programs write to neither. */
static const char write_dirs[] =
    "Write only into directories that may be changed ({dir}); results can be the program's value.";
static const char memory_database[] = "Use the database \":memory:\", without extensions.";
static const char database[] = "Use a database below /output or /tmp, or \":memory:\", without extensions.";
static const char output_database[] = "Use a database below /output, or \":memory:\", without extensions.";
/* The hints for interfaces that have the program's files elsewhere. */
static const char files_elsewhere[] = "Read and write files in {files}.";
static const char write_elsewhere[] = "Write files in {files}.";
static const char database_elsewhere[] = "Use a database in {files}, or \":memory:\", without extensions.";
static const char literal[] = "Use ast.literal_eval or json.loads for data, and plain code for the rest.";
static const char no_internals[] =
    "The interpreter's internals are closed; use the object's public methods and attributes.";
static const char from_memory[] = "Give numpy the data itself: np.array(values) or np.frombuffer(data).";
static const char no_pickle[] = "Use json, csv or numpy.save(allow_pickle=False) for data.";
static const char no_imports[] = "Write a plain import statement of an allowed module.";
static const char ends_itself[] = "Let the program come to its end instead.";

static const struct hint modules[] = {
    {"socket", no_network},
    {"_socket", no_network},
    {"socketserver", no_network},
    {"ssl", no_network},
    {"_ssl", no_network},
    {"http", no_network},
    {"urllib", no_network},
    {"urllib3", no_network},
    {"requests", no_network},
    {"httpx", no_network},
    {"aiohttp", no_network},
    {"ftplib", no_network},
    {"smtplib", no_network},
    {"smtpd", no_network},
    {"poplib", no_network},
    {"imaplib", no_network},
    {"nntplib", no_network},
    {"telnetlib", no_network},
    {"xmlrpc", no_network},
    {"paramiko", no_network},
    {"webbrowser", no_network},
    {"boto3", no_network},
    {"subprocess", no_processes},
    {"_posixsubprocess", no_processes},
    {"multiprocessing", no_processes},
    {"_multiprocessing", no_processes},
    {"concurrent.futures.process", no_processes},
    {"pty", no_processes},
    {"pexpect", no_processes},
    {"sh", no_processes},
    {"ctypes", no_native},
    {"_ctypes", no_native},
    {"cffi", no_native},
    {"mmap", "Read the file with open(), or numpy.memmap where the policy allows it."},
    {"numpy.ctypeslib", no_native},
    {"numpy.f2py", no_native},
    {"numpy.distutils", no_native},
    {"distutils", "Nothing can be built or installed in the cell; use the libraries of its tree."},
    {"pip", "Nothing can be installed in the cell; use the libraries of its tree."},
    {"ensurepip", "Nothing can be installed in the cell; use the libraries of its tree."},
    {"venv", "Nothing can be installed in the cell; use the libraries of its tree."},
    {"setuptools", "Nothing can be installed in the cell; use the libraries of its tree."},
    {"os", no_files_of_others},
    {"posix", no_files_of_others},
    {"pathlib", no_files_of_others},
    {"shutil", no_files_of_others},
    {"glob", no_files_of_others},
    {"tempfile", no_files_of_others},
    {"io", no_files_of_others},
    {"pickle", no_pickle},
    {"_pickle", no_pickle},
    {"cPickle", no_pickle},
    {"dill", no_pickle},
    {"cloudpickle", no_pickle},
    {"shelve", no_pickle},
    {"marshal", no_pickle},
    {"joblib", no_pickle},
    {"importlib", no_imports},
    {"imp", no_imports},
    {"pkgutil", no_imports},
    {"runpy", no_imports},
    {"zipimport", no_imports},
    {"code", literal},
    {"codeop", literal},
    {"sys", no_internals},
    {"gc", no_internals},
    {"inspect", no_internals},
    {"builtins", no_internals},
    {"_xxsubinterpreters", no_internals},
    {"_interpreters", no_internals},
    {"_interpchannels", no_internals},
    {"_interpqueues", no_internals},
    {"_testcapi", no_internals},
    {"_testinternalcapi", no_internals},
    {"_testlimitedcapi", no_internals},
    {"threading", "Do the work in one thread; numpy and pandas are fast enough for most of it."},
    {"_thread", "Do the work in one thread; numpy and pandas are fast enough for most of it."},
    {"signal", "The job's time limit is set outside, with {timeout}."},
    {"sqlite3", "Pass the table with {input}, as CSV or JSON lines."},
    {"tkinter", "There is no screen; draw with matplotlib or plotly, whose figures are saved."},
};

static const struct hint calls[] = {
    {"eval", literal},
    {"exec", literal},
    {"compile", literal},
    {"input", "Nobody answers in a cell; pass values with {var}."},
    {"breakpoint", "There is no debugger in a cell; print what you want to see."},
    {"exit", ends_itself},
    {"quit", ends_itself},
    {"__import__", no_imports},
    {"open", no_files_of_others},
    {"globals", "Use the names themselves, or a dict of your own."},
    {"locals", "Use the names themselves, or a dict of your own."},
    {"vars", "Use the attributes' names, or a dict of your own."},
    {"dir", "Use the attributes' names."},
    {"getattr", "Write object.attribute."},
    {"setattr", "Write object.attribute = value."},
    {"delattr", "Write del object.attribute."},
    {"help", "Nobody reads along in a cell; print what you want to see."},
    {"memoryview", "Use bytes or a numpy array."},
    {"as_strided", "Use numpy.lib.stride_tricks.sliding_window_view, which stays inside the array."},
};

static const struct hint attributes[] = {
    {"__class__", "Use type(x) or isinstance(x, C)."},
    {"__qualname__", "Use __name__, or a text of your own."},
    {"__array_interface__", from_memory},
    {"__array_struct__", from_memory},
    {"__dict__", "Use vars(x), or the attributes' names."},
    {"__import__", no_imports},
    {"__reduce_ex__", no_pickle},
    {"__reduce__", no_pickle},
    {"settrace", "There is no debugger in a cell; use time.perf_counter to measure."},
    {"setprofile", "There is no profiler in a cell; use time.perf_counter to measure."},
    {"system", no_processes},
    {"popen", no_processes},
    {"fork", no_processes},
    {"__*", no_internals},
    {"f_*", no_internals},
    {"tb_*", no_internals},
    {"gi_*", no_internals},
    {"cr_*", no_internals},
    {"ag_*", no_internals},
    {"co_*", no_internals},
    {"_*", "Names that begin with an underscore are closed; use the public ones."},
};

static const struct hint events[] = {
    {"socket.*", no_network},
    {"urllib.*", no_network},
    {"http.*", no_network},
    {"ftplib.*", no_network},
    {"smtplib.*", no_network},
    {"imaplib.*", no_network},
    {"poplib.*", no_network},
    {"nntplib.*", no_network},
    {"telnetlib.*", no_network},
    {"webbrowser.*", no_network},
    {"subprocess.*", no_processes},
    {"os.system", no_processes},
    {"os.exec", no_processes},
    {"os.fork*", no_processes},
    {"os.posix_spawn", no_processes},
    {"os.spawn", no_processes},
    {"os.startfile*", no_processes},
    {"pty.*", no_processes},
    {"os.kill*", "A program may end itself by coming to its end, and nothing else."},
    {"os.putenv", "Set what the library needs by its own options."},
    {"os.unsetenv", "Set what the library needs by its own options."},
    {"open", no_files_of_others},
    {"os.*", no_files_of_others},
    {"shutil.*", no_files_of_others},
    {"tempfile.*", no_files_of_others},
    {"pathlib.*", no_files_of_others},
    {"glob.*", no_files_of_others},
    {"sqlite3.*", database},
    {"ctypes.*", no_native},
    {"mmap.*", no_native},
    {"compile", literal},
    {"exec", literal},
    {"import", no_imports},
    {"hotcell.call", "Use a function that is written in Python, or one of Python's own modules."},
    {"pickle.*", no_pickle},
    {"marshal.*", no_pickle},
    {"_thread.*", "Do the work in one thread; numpy and pandas are fast enough for most of it."},
    {"sys.settrace", "There is no debugger in a cell; use time.perf_counter to measure."},
    {"sys.setprofile", "There is no profiler in a cell; use time.perf_counter to measure."},
    {"sys.*", no_internals},
    {"gc.*", no_internals},
    {"code.*", no_internals},
    {"function.*", no_internals},
    {"object.*", no_internals},
    {"builtins.*", no_internals},
    {"cpython.*", no_internals},
};

static bool fits(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);
    bool open_ended = len && pattern[len - 1] == '*';
    return open_ended ? strncmp(name, pattern, len - 1) == 0 : strcmp(name, pattern) == 0;
}

/* A hint on places of files: as it is, without /tmp, without /tmp and /output, and for interfaces that have
 * the files elsewhere. */
static const struct places {
    const char *usual, *without_tmp, *without_both, *elsewhere;
} places[] = {
    {no_files_of_others, no_files_but_output, write_dirs, files_elsewhere},
    {write_below, write_output, write_dirs, write_elsewhere},
    {database, output_database, memory_database, database_elsewhere},
};

/* The same hint with the places where this policy and this interface have files. */
static const char *with_places(const char *text)
{
    const struct hc_names *write = &hc_guard.files.write;
    const bool tmp = !write->given || hc_names_has(write, "/tmp");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct places *p = &places[i];
        if (text != p->usual)
            continue;
        if (hc_words_interface()->files)
            return p->elsewhere;
        return tmp ? text : hc_names_has(write, "/output") ? p->without_tmp : p->without_both;
    }
    return text;
}

#define LOOK_UP(table, name) look_up(table, sizeof(table) / sizeof *(table), name)

static const char *look_up(const struct hint *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fits(table[i].name, name))
            return hc_words_fill(with_places(table[i].text));
    return NULL;
}

const char *hc_hint_for_module(const char *dotted)
{
    char name[256];
    if (strlen(dotted) >= sizeof name)
        return NULL;
    memcpy(name, dotted, strlen(dotted) + 1);
    for (char *dot = name; dot; (dot = strrchr(name, '.')) ? *dot = '\0' : 0) {
        const char *text = LOOK_UP(modules, name);
        if (text)
            return text;
    }
    return NULL;
}

const char *hc_hint_for_call(const char *name)
{
    return LOOK_UP(calls, name);
}

const char *hc_hint_for_attribute(const char *name)
{
    return LOOK_UP(attributes, name);
}

const char *hc_hint_for_event(const char *audit_event)
{
    return LOOK_UP(events, audit_event);
}

const char *hc_hint_for_file(const char *path, int writing)
{
    if (writing && hc_zones_have(&hc_guard.files.read_only, path))
        return hc_words_fill(read_only_dir);
    return hc_words_fill(with_places(writing ? write_below : no_files_of_others));
}
