/* starter.h - start commands beside the runs of a session (wire/starter.h). */
#ifndef HC_SHIM_STARTER_H
#define HC_SHIM_STARTER_H

#include "base/error.h"

/* Makes the starter, a copy of this process, which serves at `socket_taken`. To be called before any program
 * of a guest has run. -1: it could not be made. */
int hc_starter_begin(int socket_taken, struct hc_error *err);

#endif
