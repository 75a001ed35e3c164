/* words.h - hints in the words of the interface through which the job was sent. The launcher says which it
 * is, before the program is read. */
#ifndef HC_SHIM_HARNESS_WORDS_H
#define HC_SHIM_HARNESS_WORDS_H

#include "policy/interface.h"

/* Chooses the interface. "" or an unknown name: it stays as it is, at first the command line's. */
void hc_words_choose(const char *interface_name);

const struct hc_interface *hc_words_interface(void);

/* A hint with its words filled in, valid for the life of the process. `hint` is static; NULL: NULL. */
const char *hc_words_fill(const char *hint);

#endif
