/* limit_facts.h - prints the rows of limits.def as parts of the schema of manifests. */
#ifndef HC_CLI_LIMIT_FACTS_H
#define HC_CLI_LIMIT_FACTS_H

#include <stdio.h>

void hc_facts_print_limits_json(FILE *out);      /* a property for each limit, each with a comma behind it */
void hc_facts_print_limit_names_json(FILE *out); /* their names as items of a list, likewise */
void hc_facts_print_enforced_json(FILE *out);    /* the properties of limits.enforced_by */
void hc_facts_print_enforced_names_json(FILE *out); /* their names as items of a list */

#endif
