/* ladder.h - which interpreters a policy has for warm cells (rungs of a ladder), and which of them a program
 * needs.
 *
 * A copy of an interpreter costs more the more it has loaded, and most programs need little of it. A policy's
 * "warm.ladder" names the rungs: each interpreter has the modules of its own rung and of those below. A job
 * gets the lowest rung that has all that its text names. This is a guess: a program that names a module in no
 * way that its text shows imports it itself, which takes time and changes nothing else. */
#ifndef HC_POLICY_LADDER_H
#define HC_POLICY_LADDER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Number of rungs of a policy's rules (rules.h); 1 without a ladder. */
size_t hc_ladder_height(const cJSON *rules);

/* The rung for a program of `len` bytes, from 0 on: the highest of those whose imports or words it names. The
 * top one if it imports a module that is neither in the ladder nor in the standard library, as that module
 * may need any of them, if the program is longer than 64 KiB, or if the policy's prelude binds names or has
 * code. */
size_t hc_ladder_rung(const cJSON *rules, const char *code, size_t len);

/* Does the interpreter of this rung load anything before its jobs come? */
bool hc_ladder_loads(const cJSON *rules, size_t rung);

/* The lowest rung that has the module `name`; the top one if none has. */
size_t hc_ladder_rung_of(const cJSON *rules, const char *name);

/* Make the rules for the interpreter of one rung, a copy in which "warm" has the imports and the code of this
 * rung and of those below, and the sample of this rung. The caller owns it. NULL: no memory. */
cJSON *hc_ladder_rules(const cJSON *rules, size_t rung);

#endif
