#include "json/names.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* bytes: no known name is longer */

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

/* Can the character, which is not ASCII, stand in a name? Letters of scripts that are written from left to
 * right, without those that Python reads as others (NFKC) or joins with the next one: so a name is one
 * spelling, that of the program, and no name changes how a line is shown. */
static bool is_name_character(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } letters[] = {
        {0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x131},      {0x134, 0x13e},   {0x141, 0x148},
        {0x14a, 0x17e}, /* Latin */
        {0x180, 0x1c3},   {0x1cd, 0x1f0},   {0x1f4, 0x24f},     {0x1e00, 0x1e99}, {0x1ea0, 0x1ef9},
        {0x386, 0x386},   {0x388, 0x38a},   {0x38c, 0x38c},     {0x38e, 0x3a1},   {0x3a3, 0x3ce}, /* Greek */
        {0x400, 0x481},   {0x48a, 0x52f},                                         /* Cyrillic */
        {0x531, 0x556},   {0x561, 0x586},   {0x10d0, 0x10fa},                     /* Armenian, Georgian */
        {0x3005, 0x3007}, {0x3041, 0x3096}, {0x30a1, 0x30fa},   {0x30fc, 0x30fc}, /* Japanese */
        {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0x20000, 0x2a6df}, {0xac00, 0xd7a3}, /* Chinese, Korean */
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (c >= letters[i].first && c <= letters[i].last)
            return true;
    return false;
}

bool hc_is_variable(const char *text)
{
    char plain[HC_VARIABLE + 1];
    const size_t len = strlen(text);
    size_t used = 0;
    if (len == 0 || len > HC_VARIABLE || (text[0] == '_' && text[1] == '_'))
        return false;
    for (size_t at = 0; at < len;) {
        int n = hc_utf8_sequence((const unsigned char *)text + at, len - at);
        if (n <= 0 || (n > 1 && !is_name_character(hc_utf8_decode((const unsigned char *)text + at, n))))
            return false;
        plain[used++] = n > 1 ? 'x' : text[at]; /* the rest of the rule is about ASCII */
        at += (size_t)n;
    }
    plain[used] = '\0';
    return plain[0] == '_' || used < len ? hc_is_word(plain) : hc_is_identifier(plain);
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

void hc_guess_consider(struct hc_guess *g, const char *leaf, const char *shown, bool elsewhere)
{
    size_t distance = hc_distance(g->wanted, leaf);
    /* Allow one typing error in a short name, two in a longer one; a name with more is another word. */
    if (distance > (strlen(leaf) < 5 ? 1 : 2))
        return;
    size_t cost = distance * 2 + elsewhere;
    if (g->name && cost >= g->cost)
        return;
    g->name = shown;
    g->cost = cost;
}

void hc_guess_consider_all(struct hc_guess *g, const char *const *known)
{
    for (; known && *known; known++)
        hc_guess_consider(g, *known, *known, false);
}

void hc_guess_say(const struct hc_guess *g, char *out, size_t size)
{
    if (g->name &&
        strcmp(g->name, g->wanted) == 0) /* the name is right, but belongs at the top and not in a section */
        (void)snprintf(out, size, "; '%s' stands at the top", g->name);
    else if (g->name)
        (void)snprintf(out, size, "; did you mean '%s'?", g->name);
    else
        out[0] = '\0';
}

void hc_nearest(const char *name, const char *const *known, char *out, size_t size)
{
    struct hc_guess g = {.wanted = name};
    hc_guess_consider_all(&g, known);
    hc_guess_say(&g, out, size);
}
