/* rules.h - the rules of a policy, its values that are lists and texts: what programs may import, call, name,
 * open and cause, what is set up for them, and what is done to their output.
 *
 * One table of sections and keys, which the parser, "hotcell policy" and the man page walk. The checked rules
 * stay a JSON object {section: {key: value}}; the launcher hands those of the guard over as they are. */
#ifndef HC_POLICY_RULES_H
#define HC_POLICY_RULES_H

#include "json/json.h"

#include <stdio.h>

enum hc_rule_kind {
    HC_RULE_BOOL,   /* true or false */
    HC_RULE_COUNT,  /* integer, 0 to `max` */
    HC_RULE_TEXT,   /* string of at most 4096 bytes */
    HC_RULE_CODE,   /* Python source of at most 64 KiB */
    HC_RULE_CHOICE, /* one of `choices` */
    HC_RULE_FILE,   /* file name for the program in messages: not one by which code counts as a library's */
    HC_RULE_FOLDER, /* name of one directory: letters, digits, '.', '_', '-' */
    HC_RULE_NAMES,  /* list of strings, each one of `choices` if there are any; a key "NAME+" adds to the list
                       that is inherited */
    HC_RULE_PLACES, /* list of directories: absolute paths, "~/..." or "."; a key "NAME+" as above */
    HC_RULE_HOST_DIRS, /* list of directories of the host: absolute paths; a key "NAME+" as above */
    HC_RULE_PROGRAMS,  /* list of programs of a tree: "*", names, absolute paths; a key "NAME+" as above */
    HC_RULE_MAP,       /* object of strings; merged with the object that is inherited */
    HC_RULE_ALLOWED_CALLS, /* HC_RULE_NAMES of system calls that no program has by default (syscalls.h) */
    HC_RULE_DENIED_CALLS,  /* HC_RULE_NAMES of system calls that every program has by default */
    HC_RULE_ROWS, /* list of objects with `fields`; a key "NAME+" adds to the list that is inherited */
};

/* A member of the objects of a HC_RULE_ROWS. */
struct hc_rule_field {
    const char *name;           /* name of the member */
    enum hc_rule_kind kind;     /* BOOL, TEXT, CODE, CHOICE or NAMES */
    bool required;              /* each object must have the member */
    const char *const *choices; /* values that are allowed, NULL-terminated; NULL: any */
};

struct hc_rule {
    const char *section, *key; /* place of the rule in a policy file: {section: {key: value}} */
    enum hc_rule_kind kind;    /* kind of the value */
    bool guard;  /* the guard enforces the rule, which with guard "off" is not handed to the shim */
    int64_t max; /* highest value of an HC_RULE_COUNT */
    const char *const *choices;         /* values that are allowed, NULL-terminated; NULL: any */
    const struct hc_rule_field *fields; /* members of an object of HC_RULE_ROWS; ends with a NULL name */
    const char *help;                   /* one sentence for the man page */
};

/* The table of rules, and the number of its rows. */
extern const struct hc_rule hc_rules[];
extern const size_t hc_rules_count;

bool hc_rules_is_section(const char *name); /* has the table a section of this name? */

/* Checks one section of a policy file and puts its keys into *rules, over the inherited ones; a null removes
 * a key. *rules is an object, which is made if it is NULL. -1: HC_EXIT_CONFIG, with line, column and what was
 * expected. */
int hc_rules_set(cJSON **rules, const struct hc_json *j, const cJSON *section, struct hc_error *err);

/* The value of a key in `rules` (NULL: no rules), borrowed; as a text, a bool or a number. NULL, or
 * `otherwise`, if the key is not set. */
const cJSON *hc_rules_get(const cJSON *rules, const char *section, const char *key);
const char *hc_rules_text(const cJSON *rules, const char *section, const char *key, const char *otherwise);
bool hc_rules_bool(const cJSON *rules, const char *section, const char *key, bool otherwise);
int64_t hc_rules_count_of(const cJSON *rules, const char *section, const char *key, int64_t otherwise);

/* Name of section number `index` of the table, in its order; NULL after the last. */
const char *hc_rules_section(size_t index);

/* The rules that the shim enforces, without those of the launcher; the caller owns the object. NULL: no
 * memory. */
cJSON *hc_rules_for_shim(const cJSON *rules, bool guard);

const char *hc_rule_kind_name(enum hc_rule_kind kind); /* what a value is, such as "a list of strings" */

#endif
