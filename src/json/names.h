/* names.h - which names are well-formed, and what somebody who mistyped one probably meant. */
#ifndef HC_JSON_NAMES_H
#define HC_JSON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

bool hc_is_word(const char *text);           /* [A-Za-z_][A-Za-z0-9_]* */
bool hc_is_identifier(const char *text);     /* a word, no Python keyword, no underscore in front */
bool hc_is_id(const char *text, size_t max); /* 1 to `max` of [A-Za-z0-9._-], not beginning with '.' */
size_t hc_distance(const char *a,
                   const char *b); /* insertions, deletions, replacements, swaps of neighbours */

/* A hint for a wrong name: "; did you mean 'memory'?", or "" if none of `known` is near (which ends with
 * NULL, and may be NULL). */
void hc_nearest(const char *name, const char *const *known, char *out, size_t size);

/* The same in steps, for names that are in no list. Begin with .wanted alone. */
struct hc_guess {
    const char *wanted; /* the wrong name; borrowed */
    const char *name;   /* the nearest so far, as it is shown; borrowed. NULL: none was near */
    size_t cost;        /* twice its distance, and 1 for a name from elsewhere */
};

/* Compares `leaf`; `shown` is what the hint would say. A name from elsewhere loses to one that is as near. */
void hc_guess_consider(struct hc_guess *g, const char *leaf, const char *shown, bool elsewhere);
void hc_guess_consider_all(struct hc_guess *g, const char *const *known);
void hc_guess_say(const struct hc_guess *g, char *out, size_t size);

#endif
