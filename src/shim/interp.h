/* interp.h - starts CPython configured for a cell: isolated, without site, UTF-8, unbuffered output. */
#ifndef HC_SHIM_INTERP_H
#define HC_SHIM_INTERP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_interp_options {
    const char *filename; /* text for sys.argv[0], borrowed */
    const char *layers;   /* names of the tree's layers, "+LAYER+LAYER", borrowed */
    bool seeded;          /* `seed` is used; else the interpreter takes a random seed */
    uint32_t seed;        /* seed of the hashes of str */
};

/* Starts the interpreter in this process. It is never finalised: the process ends instead. */
int hc_interp_start(const struct hc_interp_options *options, struct hc_error *err);

#endif
