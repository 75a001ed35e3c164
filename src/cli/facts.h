/* facts.h - prints the tables of what a manifest says (src/manifest, files NAME.def) in the forms that other
 * files take from them: parts of JSON documents and man pages, and the module facts.py of the Python package.
 */
#ifndef HC_CLI_FACTS_H
#define HC_CLI_FACTS_H

#include <stdio.h>

void hc_facts_print_statuses_json(FILE *out); /* names as items of a list, the last without a comma */
void hc_facts_print_ended_json(FILE *out); /* those of jobs that have a result, each with a comma behind it */
void hc_facts_print_statuses_man(FILE *out); /* items of an mdoc(7) list */

void hc_facts_print_usage_json(FILE *out); /* properties of a JSON Schema, each with a comma behind it */
void hc_facts_print_usage_names_json(FILE *out); /* likewise the names */
void hc_facts_print_usage_man(FILE *out);

/* Properties of a JSON Schema, and their names, the last without a comma. */
void hc_facts_print_denial_json(FILE *out);
void hc_facts_print_denial_names_json(FILE *out);
void hc_facts_print_denials_man(FILE *out);
void hc_facts_print_refusers_man(FILE *out);
void hc_facts_print_enforced_man(FILE *out); /* all names in one sentence */
void hc_facts_print_layers_man(FILE *out);

void hc_facts_print_python(FILE *out);

#endif
