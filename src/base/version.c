#include "base/version.h"

const char hc_version[20] = HC_VERSION;
