#include "shim/guard/denial.h"

void hc_denial_note(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint)
{
    (void)layer;
    (void)rule;
    (void)what;
    (void)hint;
}
