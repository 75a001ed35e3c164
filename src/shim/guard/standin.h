/* standin.h - makes stand-ins, which an import of a denied module binds where the program does not use the
 * name. Any use of a stand-in is refused as the import would have been, so a program that only imports too
 * much runs. */
#ifndef HC_SHIM_GUARD_STANDIN_H
#define HC_SHIM_GUARD_STANDIN_H

#include "shim/harness/finding.h"
#include "shim/harness/py.h"

/* Remembers the imports of a program that the check only warned of, and forgets those of earlier ones. */
void hc_standins_expect(const struct hc_findings *found);

/* Did the check only warn of an import of this module in a statement that begins in this line? */
bool hc_standin_expected(const char *dotted, int line);

/* The result of such an import. `from_import`: it is a "from" import, whose names become stand-ins too. New
 * reference; NULL with an exception set. */
PyObject *hc_standin_make(const char *dotted, bool from_import);

#endif
