/* interp.h - CPython, configured for a cell: isolated, no site, UTF-8, unbuffered. */
#ifndef HC_SHIM_INTERP_H
#define HC_SHIM_INTERP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_interp_options {
    const char *filename; /* sys.argv[0] */
    bool seeded;
    uint32_t seed; /* of str hashes; random if not `seeded` */
};

/* Start the interpreter. It is never finalised: the process ends instead. */
int hc_interp_start(const struct hc_interp_options *options, struct hc_error *err);

#endif
