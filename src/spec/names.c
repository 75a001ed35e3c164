#include "spec/names.h"

#include "spec/options.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 40 /* no name that we know is longer */

static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool hc_is_word(const char *text)
{
    if (!is_letter(*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!is_letter(*text) && !is_digit(*text) && *text != '_')
            return false;
    return true;
}

bool hc_is_identifier(const char *text)
{
    if (!hc_is_word(text) || *text == '_')
        return false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i], text) == 0)
            return false;
    return true;
}

bool hc_is_id(const char *text, size_t max)
{
    size_t len = strlen(text);
    if (len == 0 || len > max || *text == '.')
        return false;
    for (; *text; text++)
        if (!is_letter(*text) && !is_digit(*text) && !strchr("._-", *text))
            return false;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hc_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        d[i][0] = i;
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

struct nearest {
    const char *wanted;
    const char *name; /* the nearest so far */
    size_t cost;      /* twice the distance, and 1 for a name from elsewhere */
};

static void consider(struct nearest *n, const char *leaf, const char *shown, bool elsewhere)
{
    size_t distance = hc_distance(n->wanted, leaf);
    /* One slip in a short name, two in a longer one; more is another word. */
    if (distance > (strlen(leaf) < 5 ? 1 : 2))
        return;
    size_t cost = distance * 2 + elsewhere;
    if (n->name && cost >= n->cost)
        return;
    n->name = shown;
    n->cost = cost;
}

static void say(const struct nearest *n, char *out, size_t size)
{
    if (n->name &&
        strcmp(n->name, n->wanted) == 0) /* a right name in a wrong place: only sections have those */
        (void)snprintf(out, size, "; '%s' stands at the top", n->name);
    else if (n->name)
        (void)snprintf(out, size, "; did you mean '%s'?", n->name);
    else
        out[0] = '\0';
}

static void consider_all(struct nearest *n, const char *const *known)
{
    for (; known && *known; known++)
        consider(n, *known, *known, false);
}

void hc_nearest(const char *name, const char *const *known, char *out, size_t size)
{
    struct nearest n = {.wanted = name};
    consider_all(&n, known);
    say(&n, out, size);
}

void hc_nearest_option(const char *section, const char *name, const char *const *others, char *out,
                       size_t size)
{
    struct nearest n = {.wanted = name};
    size_t len = strlen(section);
    consider_all(&n, others);
    for (size_t i = 0; i < hc_options_count; i++) {
        const char *path = hc_options[i].path, *dot = strchr(path, '.');
        const char *leaf = dot ? dot + 1 : path;
        bool here = dot ? (size_t)(dot - path) == len && strncmp(path, section, len) == 0 : len == 0;
        consider(&n, leaf, here ? leaf : path, !here);
    }
    say(&n, out, size);
}
