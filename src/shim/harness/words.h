/* words.h - puts hints into the words of the interface through which the job was sent. The launcher names the
 * interface before the program is read. */
#ifndef HC_SHIM_HARNESS_WORDS_H
#define HC_SHIM_HARNESS_WORDS_H

#include "policy/interface.h"

/* Chooses the interface of this name. With "" or an unknown name the interface stays as it is; at first it is
 * that of the command line. */
void hc_words_choose(const char *interface_name);

const struct hc_interface *hc_words_interface(void); /* the chosen interface; static */

/* Returns a hint with its words filled in, valid for the life of the process. `hint` is static; NULL for
 * NULL. */
const char *hc_words_fill(const char *hint);

#endif
