/* schema.h - the part of JSON Schema by which the arguments of a tool are described and checked.
 *
 * Keywords: type, properties, required, additionalProperties, items, enum, const, minimum, maximum,
 * minLength, maxLength, pattern (PCRE2, found anywhere in the string), minItems, maxItems; default, title and
 * description say something and check nothing. As in JSON Schema a keyword binds only values of its kind.
 * Whatever else a schema says is an error when it is read: a word that is passed over would be a promise that
 * nobody keeps. */
#ifndef HC_JSON_SCHEMA_H
#define HC_JSON_SCHEMA_H

#include "json/json.h"

struct hc_schema;

/* `node` is part of `j` and is copied; `label` is what messages call it. HC_EXIT_DATA, with line, column and
 * what was expected. */
int hc_schema_new(struct hc_schema **out, const struct hc_json *j, const cJSON *node, const char *label,
                  struct hc_error *err);
void hc_schema_free(struct hc_schema *s); /* NULL is fine */

const cJSON *hc_schema_json(const struct hc_schema *s); /* borrowed */

/* Of an object's schema: its member `name`; NULL if it names none such. Borrowed. */
const cJSON *hc_schema_property(const struct hc_schema *s, const char *name);

/* Does `value` (anybody's) fit? HC_EXIT_DATA, and says where it does not: "days: expected at most 7". */
int hc_schema_check(const struct hc_schema *s, const cJSON *value, struct hc_error *err);

#endif
