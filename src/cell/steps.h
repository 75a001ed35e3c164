/* steps.h - sessions: a directory of steps, each one the results of a job, of which one runs at a time. */
#ifndef HC_CELL_STEPS_H
#define HC_CELL_STEPS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* The directory `session` of `parent`, both made if they are missing, locked for as long as the descriptor is
 * open. Without `wait` a session that is in use is an error. HC_EXIT_DATA. -1 or the descriptor. */
int hc_session_open(const char *parent, const char *session, bool wait, struct hc_error *err);

/* Remove the steps of the session at `path` but for the `keep` that changed last, and name them on `out`.
 * What no job of ours has left there stays. Returns how many are gone, -1. */
int hc_session_clean(const char *path, size_t keep, FILE *out, struct hc_error *err);

/* Whether manifest.json of `dir` is a file of ours. */
bool hc_has_manifest(int dir);

/* Remove a directory below `dir` with all that is in it, however deep, through no link and into no other file
 * system. It need not be there. */
int hc_remove_results(int dir, const char *name, struct hc_error *err);

#endif
