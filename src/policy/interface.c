#include "policy/interface.h"

#include <string.h>

static const struct hc_interface interfaces[] = {
#define HC_INTERFACE(...) {__VA_ARGS__},
#include "policy/interface.def"
};

#define HC_INTERFACE(name, ...) name,
const char *const hc_interface_names[] = {
#include "policy/interface.def"
    NULL};

const struct hc_interface *hc_interface_find(const char *name)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
        if (strcmp(interfaces[i].name, name) == 0)
            return &interfaces[i];
    return NULL;
}

void hc_interface_fill(const struct hc_interface *as, const char *hint, struct hc_buf *out)
{
    const struct {
        const char *hole, *word;
    } words[] = {{"{input}", as->input},
                 {"{var}", as->var},
                 {"{timeout}", as->timeout},
                 {"{dir}", as->dir},
                 {"{files}", as->files ? as->files : "/output"}};
    while (*hint) {
        size_t len = 1;
        const char *text = hint;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(hint, words[i].hole, strlen(words[i].hole)) == 0) {
                len = strlen(words[i].hole);
                text = words[i].word;
            }
        (void)(text == hint ? hc_buf_add(out, text, 1) : hc_buf_str(out, text));
        hint += len;
    }
}
