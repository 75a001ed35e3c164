/* option_facts.h - prints the rows of limits.def as parts of the schema of manifests, and those of
 * job_options.def as parts of openapi.json. */
#ifndef HC_CLI_OPTION_FACTS_H
#define HC_CLI_OPTION_FACTS_H

#include <stdio.h>

void hc_facts_print_limits_json(FILE *out);      /* a property for each limit, each with a comma behind it */
void hc_facts_print_limit_names_json(FILE *out); /* their names as items of a list, likewise */
void hc_facts_print_enforced_json(FILE *out);    /* the properties of limits.enforced_by */
void hc_facts_print_enforced_names_json(FILE *out); /* their names as items of a list */

/* A property for each option of a job, and of a session's run, that hotcelld takes; each with a comma behind
 * it. */
void hc_facts_print_job_options_json(FILE *out);
void hc_facts_print_run_options_json(FILE *out);

/* A property for each limit that the request for a job, or for a session's run, may have. */
void hc_facts_print_job_limits_json(FILE *out);
void hc_facts_print_run_limits_json(FILE *out);

/* Items of an mdoc(7) list: the options of jobs, and the members of the same names in specs. */
void hc_facts_print_job_options_man(FILE *out);
void hc_facts_print_job_members_man(FILE *out);

/* One line of mdoc(7) with the names of the options that hotcelld does not take, or that a session's run may
 * have. */
void hc_facts_print_not_sent_man(FILE *out);
void hc_facts_print_run_options_man(FILE *out);

#endif
