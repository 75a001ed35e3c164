/* names.h - checks names, and finds the known name that is nearest to a mistyped one. */
#ifndef HC_JSON_NAMES_H
#define HC_JSON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define HC_VARIABLE 64 /* most bytes of a variable's name */

bool hc_is_word(const char *text);       /* [A-Za-z_][A-Za-z0-9_]* */
bool hc_is_identifier(const char *text); /* a word, no Python keyword, no underscore in front */
/* Is the text a name for a variable of a program? It may have letters of some other scripts, such that Python
 * reads it as it is written, and at most one underscore in front; it is no keyword, and has at most
 * HC_VARIABLE bytes. */
bool hc_is_variable(const char *text);
bool hc_is_id(const char *text, size_t max); /* 1 to `max` of [A-Za-z0-9._-], not beginning with '.' */

/* The least number of insertions, deletions, replacements and swaps of neighbours that make `b` of `a`. */
size_t hc_distance(const char *a, const char *b);

/* Writes a hint for a wrong name: "; did you mean 'memory'?", or "" if no name of `known` is near. `known`
 * ends with NULL, and may be NULL. */
void hc_nearest(const char *name, const char *const *known, char *out, size_t size);

/* The state of a search for the nearest name in steps, for known names that are in no list. To begin, set
 * `wanted` and leave the rest 0. */
struct hc_guess {
    const char *wanted; /* the wrong name; borrowed */
    const char *name; /* the nearest known name so far, as the hint shows it; borrowed. NULL: none was near */
    size_t cost;      /* distance of `name` from `wanted`, doubled, and 1 more if `name` is from elsewhere */
};

/* Compares the known name `leaf`, which the hint would show as `shown`. A name from elsewhere (another
 * section) loses to one of this section that is as near. */
void hc_guess_consider(struct hc_guess *g, const char *leaf, const char *shown, bool elsewhere);
/* Compares each name of this list, which ends with NULL and may be NULL. */
void hc_guess_consider_all(struct hc_guess *g, const char *const *known);
/* Writes the hint, as hc_nearest does. */
void hc_guess_say(const struct hc_guess *g, char *out, size_t size);

#endif
