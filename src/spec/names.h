/* names.h - which names are well-formed, and what somebody who mistyped one probably meant. */
#ifndef HC_SPEC_NAMES_H
#define HC_SPEC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

bool hc_is_word(const char *text);           /* [A-Za-z_][A-Za-z0-9_]* */
bool hc_is_identifier(const char *text);     /* a word, no Python keyword, no underscore in front */
bool hc_is_id(const char *text, size_t max); /* 1 to `max` of [A-Za-z0-9._-], not beginning with '.' */
size_t hc_distance(const char *a,
                   const char *b); /* insertions, deletions, replacements, swaps of neighbours */

/* A hint for a wrong member name: "; did you mean 'memory'?", or "" if nothing is near. Considers the option
 * table's members of `section` ("" for the top level), those of the other sections, and `others` (ends with
 * NULL, may be NULL). */
void hc_nearest_option(const char *section, const char *name, const char *const *others, char *out,
                       size_t size);

/* The same among a list of names only. */
void hc_nearest(const char *name, const char *const *known, char *out, size_t size);

#endif
