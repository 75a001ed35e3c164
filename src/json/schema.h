/* schema.h - the part of JSON Schema by which the arguments of a tool are described and checked.
 *
 * Keywords: type, properties, required, additionalProperties, items, enum, const, minimum, maximum,
 * minLength, maxLength, pattern (PCRE2, found anywhere in the string), minItems, maxItems; default, title and
 * description are for readers and check nothing. As in JSON Schema a keyword binds only values of its kind.
 * Any other keyword is an error when the schema is read: its author would rely on a check that is never made.
 */
#ifndef HC_JSON_SCHEMA_H
#define HC_JSON_SCHEMA_H

#include "json/json.h"

struct hc_schema;

/* Makes a schema of `node`, which is part of `j` and is copied; `label` is its name in messages.
 * HC_EXIT_DATA, with line, column and what was expected. */
int hc_schema_new(struct hc_schema **out, const struct hc_json *j, const cJSON *node, const char *label,
                  struct hc_error *err);
void hc_schema_free(struct hc_schema *s); /* NULL is fine */

const cJSON *hc_schema_json(const struct hc_schema *s); /* the schema as JSON; borrowed from `s` */

/* The schema of the property `name`; NULL if "properties" does not have it. Borrowed. */
const cJSON *hc_schema_property(const struct hc_schema *s, const char *name);

/* Checks `value`, which may be hostile. HC_EXIT_DATA, with the place that does not fit: "days: expected at
 * most 7". */
int hc_schema_check(const struct hc_schema *s, const cJSON *value, struct hc_error *err);

#endif
