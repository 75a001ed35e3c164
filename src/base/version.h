/* version.h - the version of this hotcell, for programs that talk to programs of other versions. */
#ifndef HC_BASE_VERSION_H
#define HC_BASE_VERSION_H

extern const char hc_version[20]; /* such as "1.2.0"; the bytes behind the text are 0 */

#endif
