/* rules.h - holds the policy's rules for Python code in the interpreter's process.
 *
 * They are read once from the handover's document, whose texts they point into, and never change afterwards.
 * With guard off, `on` is false and every set is empty. */
#ifndef HC_SHIM_GUARD_RULES_H
#define HC_SHIM_GUARD_RULES_H

#include "policy/rules.h"
#include "wire/handover.h"

/* A set of names. */
struct hc_names {
    const char **items; /* the names, sorted; the array is owned, the texts are borrowed */
    size_t count;       /* number of names */
    bool given;         /* the policy has this list, which may be empty */
};

bool hc_names_has(const struct hc_names *set, const char *name); /* is the name in the set? */
/* Is a module, or a package that it is in, in the set? */
bool hc_names_has_module(const struct hc_names *set, const char *dotted);
bool hc_names_has_suffix(const struct hc_names *set, const char *name); /* does `name` end in an item? */
bool hc_names_has_match(const struct hc_names *set, const char *name);  /* "LD_*" matches "LD_PRELOAD" */

/* The rules. Each inner struct is a section of the policy, and most members are its keys, whose meaning
 * policy/rules_table.c tells. `message` and the like are templates, in which {name} or {path} stands for what
 * is refused; one that the policy lacks is a default, or NULL where that is said. All texts are borrowed from
 * the handover. */
struct hc_guard_rules {
    bool on;                 /* the policy's guard is on */
    bool learn;              /* record what would be refused, and let it pass: "hotcell policy learn" */
    bool network, processes; /* the policy allows them, and the kernel does too */
    bool links;              /* there may be symbolic links below /tmp */
    const char *filename;    /* file name of the program, "<cell>" */
    bool session;            /* programs of earlier runs have the file names "<cell N>" */
    struct {
        /* Modules that the program may import; may not import; of the latter, those that it may import with
         * network "loopback"; with processes "fork". */
        struct hc_names allow, deny, with_network, with_processes;
        /* A name in `allow` allows no submodules; but it allows "from X.Y import"; the program may import
         * only modules that the policy has loaded; imports are checked before the program runs; while it
         * runs. */
        bool exact, from_top_level, loaded_only, at_check, at_run;
        bool warn_unused;      /* a denied import that is not used binds a stand-in (standin.h) */
        bool permission_error; /* a refused import raises PermissionError instead of ImportError */
        const char *message, *deny_message, *loaded_message; /* deny_message NULL: `message` is used */
    } imports;
    struct {
        struct hc_names deny; /* names that the program may not call; names that it may not use */
        const char *message;
    } calls, names;
    struct {
        /* Built-in names that the program has; has not; has as functions that raise PermissionError. */
        struct hc_names allow, deny, refuse;
        const char *message, *hide_prefix; /* dir() and vars() leave out names with hide_prefix; NULL: none */
        bool own_namespace; /* globals(), dir() and the like show the program's own names only */
    } builtins;
    struct {
        struct hc_names deny, allow, suffixes; /* denied names; names that are not; denied endings */
        bool private_ones;                     /* names that begin with an underscore are denied */
        const char *message;
    } attributes;
    struct {
        int64_t max_chars; /* characters of a program; 0: no limit */
        const char *max_chars_message;
        /* Statements that a program may not have; findings that are warnings; types whose objects the program
         * may change, with guarded writes. */
        struct hc_names ban, warn, write_types;
        struct hc_names frames; /* variables whose columns are listed: inputs, aliases, "columns_of" */
        bool guarded_writes;    /* the program sets attributes and items through HC_WRITE_GUARD */
        bool tidy;              /* a program that does not parse may be repaired; also with guard off */
    } code;
    struct {
        /* Directories below which the program may read; may write; below which libraries may read, too; for
         * which `risky_message` is used. */
        struct hc_names read, write, library, risky;
        struct hc_names read_only; /* directories of the host that may only be read, as the launcher says */
        /* `risky_message` NULL: one of the others is used. */
        const char *read_message, *write_message, *risky_message;
    } files;
    struct {
        /* Audit events that pass although another rule refuses them; that are refused, too; environment
         * variables that the program may not change. */
        struct hc_names allow, deny, env;
        struct hc_names
            natives; /* native functions that the program may call; those of Python it may anyway */
        /* The program may start threads; messages name the calls that led to the refusal; the program may
         * make any directory its working directory. */
        bool threads, chain, chdir;
    } audit;
    struct {
        struct hc_names scrub; /* modules that sys.modules does not show to the program */
        const cJSON *replace;  /* a list, borrowed from the document; NULL: none */
    } modules;
};

extern struct hc_guard_rules hc_guard; /* the rules in force in this process */

/* Reads the rules of `job` into hc_guard; the handover must live as long as the process. -1: no memory. */
int hc_guard_rules_read(const struct hc_handover_job *job);

/* Prints a message with `name` in the place of {name} or {path}; cut to fit into `size` bytes. */
void hc_guard_message(char *out, size_t size, const char *template, const char *name);

/* Is this module on the deny list, and not allowed by with_network or with_processes? */
bool hc_guard_import_denied(const char *dotted);

/* NULL if the program may import this module; else the template of the message, borrowed. `from`: the import
 * is "from dotted import", or happens at run time. */
const char *hc_guard_import_refusal(const char *dotted, bool from);

/* Is the program forbidden to give objects of its own an attribute of this name, such as __array_interface__?
 * numpy reads memory at the address that such an attribute names. Arrays have it themselves. */
bool hc_guard_given_denied(const char *name);

/* Which names that begin with an underscore are spared by attributes.private_ones: a library's text uses such
 * names for its own objects. */
enum hc_spared { HC_SPARE_NONE, HC_SPARE_SINGLE /* those with one underscore */, HC_SPARE_ALL };

/* Has the checks of attributes' names spare private ones, and those of `names`, a list that ends with NULL
 * and is borrowed until the next call; NULL: none. It holds for the thread until its next call. */
void hc_guard_spare(enum hc_spared private_ones, const char *const *names);

/* Is the program forbidden to use attributes of this name? */
bool hc_guard_attribute_denied(const char *name);

#endif
