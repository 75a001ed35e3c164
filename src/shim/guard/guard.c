#include "shim/guard/guard.h"

int hc_guard_prepare(void)
{
    return 0;
}

int hc_guard_install(PyObject *space)
{
    (void)space;
    return 0;
}

int hc_guard_transform(struct _mod *tree, struct _arena *arena)
{
    (void)tree;
    (void)arena;
    return 0;
}

void hc_guard_release(void)
{
}
