/* steps.h - the directories of --session: each holds the results of several jobs (steps), which run one at
 * a time. */
#ifndef HC_CELL_STEPS_H
#define HC_CELL_STEPS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Open the directory `session` in `parent`; both are made if missing. The directory is locked for as long
 * as the descriptor is open. `wait`: wait for another process's lock; else such a lock is an error.
 * Returns a descriptor that the caller owns, or -1 (HC_EXIT_DATA). */
int hc_session_open(const char *parent, const char *session, bool wait, struct hc_error *err);

/* Remove all steps of the session at `path` except the `keep` that changed last, and print the removed
 * names on `out`. Files that no job of hotcell left there stay. Returns the number of steps removed, or
 * -1. */
int hc_session_clean(const char *path, size_t keep, FILE *out, struct hc_error *err);

/* Whether manifest.json in `dir` is a manifest that hotcell wrote. */
bool hc_has_manifest(int dir);

/* Remove the directory `name` in `dir` with all of its contents. Symbolic links and other file systems are
 * not entered. 0 if there is no such directory. */
int hc_remove_results(int dir, const char *name, struct hc_error *err);

#endif
