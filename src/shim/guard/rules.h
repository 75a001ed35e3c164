/* rules.h - the policy's rules for Python code, as the interpreter's process looks them up.
 *
 * Compiled once from the handover's document, whose texts they point into; they never change afterwards. With
 * guard off, `on` is false and every set is empty. */
#ifndef HC_SHIM_GUARD_RULES_H
#define HC_SHIM_GUARD_RULES_H

#include "policy/rules.h"

/* A set of names; `given` tells an empty list from none. */
struct hc_names {
    const char **items; /* sorted */
    size_t count;
    bool given;
};

bool hc_names_has(const struct hc_names *set, const char *name);
/* A dotted name: is it, or a package that it is in, one of them? */
bool hc_names_has_module(const struct hc_names *set, const char *dotted);
bool hc_names_has_suffix(const struct hc_names *set, const char *name); /* does it end in one of them? */
bool hc_names_has_match(const struct hc_names *set, const char *name);  /* "LD_*" matches "LD_PRELOAD" */

struct hc_guard_rules {
    bool on;
    bool learn;              /* note what would be refused, and let it pass: "hotcell policy learn" */
    bool network, processes; /* the policy has them: the kernel allows them too */
    const char *filename;    /* of the program, "<cell>" */
    bool session;            /* those of earlier runs are called "<cell N>" too */
    struct {
        struct hc_names allow, deny, with_network, with_processes;
        bool exact, from_top_level, loaded_only, at_check, at_run;
        bool permission_error; /* raises PermissionError instead of ImportError */
        const char *message, *deny_message, *loaded_message;
    } imports;
    struct {
        struct hc_names deny;
        const char *message;
    } calls, names;
    struct {
        struct hc_names allow, deny, refuse;
        const char *message, *hide_prefix; /* NULL: none */
        bool own_namespace;
    } builtins;
    struct {
        struct hc_names deny, allow, suffixes;
        bool private_ones;
        const char *message;
    } attributes;
    struct {
        int64_t max_chars; /* 0: none */
        const char *max_chars_message;
        struct hc_names ban, warn, write_types;
        struct hc_names frames; /* of which columns are looked for: inputs, aliases, "columns_of" */
        bool guarded_writes;
    } code;
    struct {
        struct hc_names read, write, library, risky;
        const char *read_message, *write_message, *risky_message;
    } files;
    struct {
        struct hc_names allow, deny, env;
        bool threads, chain;
    } audit;
    struct {
        struct hc_names scrub;
        const cJSON *replace; /* borrowed from the document; NULL: none */
    } modules;
};

extern struct hc_guard_rules hc_guard;

/* From the handover's document (wire/handover.h), which must stay. -1: no memory. */
int hc_guard_rules_read(const cJSON *job);

/* A message with {name} or {path} filled in. Cut to fit. */
void hc_guard_message(char *out, size_t size, const char *template, const char *name);

/* Is this module on the deny list, and nothing in the policy lifts that? */
bool hc_guard_import_denied(const char *dotted);

/* May the program import this module? NULL if so; else the message's template. `from`: "from dotted import";
 * also for imports at run time. */
const char *hc_guard_import_refusal(const char *dotted, bool from);

/* May the program have no attribute of this name in objects of its own? numpy reads memory where such an
 * attribute says; arrays themselves have it. */
bool hc_guard_given_denied(const char *name);

/* May the program use this attribute? */
bool hc_guard_attribute_denied(const char *name);

#endif
