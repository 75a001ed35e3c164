#include "shim/guard/hints.h"

#include <stddef.h>

const char *hc_hint_for_module(const char *dotted)
{
    (void)dotted;
    return NULL;
}

const char *hc_hint_for_call(const char *name)
{
    (void)name;
    return NULL;
}

const char *hc_hint_for_attribute(const char *name)
{
    (void)name;
    return NULL;
}

const char *hc_hint_for_event(const char *audit_event)
{
    (void)audit_event;
    return NULL;
}

const char *hc_hint_for_file(int writing)
{
    (void)writing;
    return NULL;
}
