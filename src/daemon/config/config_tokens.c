#include "daemon/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 4096 /* most tokens: every request's token is compared with all of them */

struct line {
    const char *name; /* name of the file */
    int number;       /* number of the line, from 1 */
    const char *at;   /* text of the line, not NUL-terminated */
    size_t len;       /* bytes of the text */
};

static int fail_at(const struct line *l, const char *what, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, "%s:%d: %s", l->name, l->number, what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next word off the line. Returns its length; 0: the line has no more words. */
static size_t next_word(struct line *l, const char **word)
{
    while (l->len && is_blank(*l->at)) {
        l->at++;
        l->len--;
    }
    size_t n = 0;
    while (n < l->len && !is_blank(l->at[n]))
        n++;
    *word = l->at;
    l->at += n;
    l->len -= n;
    return n;
}

static bool is_tenant(const struct hc_config *c, const char *name, size_t len)
{
    for (size_t i = 0; i < c->tenant_count; i++)
        if (strlen(c->tenants[i].name) == len && memcmp(c->tenants[i].name, name, len) == 0)
            return true;
    return false;
}

static struct hc_token *append_token(struct hc_config *c)
{
    /* The array's size is a power of two, and doubles when it is full. */
    if ((c->token_count & (c->token_count - 1)) == 0) {
        size_t room = c->token_count ? c->token_count * 2 : 1;
        void *grown = realloc(c->tokens, room * sizeof *c->tokens);
        if (!grown)
            return NULL;
        c->tokens = grown;
    }
    return memset(&c->tokens[c->token_count++], 0, sizeof *c->tokens);
}

static int parse_line(struct hc_config *c, struct line *l, struct hc_error *err)
{
    const char *digest, *tenant, *rest;
    const char *comment = memchr(l->at, '#', l->len);
    if (comment)
        l->len = (size_t)(comment - l->at);
    size_t digest_len = next_word(l, &digest);
    if (!digest_len)
        return 0;
    if (!hc_is_sha256_hex(digest, digest_len))
        return fail_at(l, "expected the SHA-256 of a token, 64 digits 0-9 and a-f, and a tenant", err);
    size_t tenant_len = next_word(l, &tenant);
    if (!tenant_len)
        return fail_at(l, "expected a tenant after the SHA-256", err);
    if (!is_tenant(c, tenant, tenant_len))
        return fail_at(l, "there is no such tenant in the configuration", err);
    if (next_word(l, &rest))
        return fail_at(l, "expected the end of the line after the tenant", err);
    if (c->token_count == MAX_TOKENS)
        return fail_at(l, "more than 4096 tokens", err);
    struct hc_token *t = append_token(c);
    if (!t)
        return hc_fail(err, ENOMEM, "tokens");
    memcpy(t->sha256, digest, digest_len);
    memcpy(t->tenant, tenant, tenant_len);
    t->line = l->number;
    return 0;
}

static int by_digest(const void *a, const void *b)
{
    const struct hc_token *first = a, *second = b;
    int order = strcmp(first->sha256, second->sha256);
    return order ? order : first->line - second->line;
}

/* Refuses a token of two tenants: which tenant it stands for would depend on the order of the file. */
static int refuse_shared_tokens(struct hc_config *c, const char *name, struct hc_error *err)
{
    if (c->token_count)
        qsort(c->tokens, c->token_count, sizeof *c->tokens, by_digest);
    for (size_t i = 1; i < c->token_count; i++)
        if (strcmp(c->tokens[i - 1].sha256, c->tokens[i].sha256) == 0)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "%s:%d: the token %.8s... stands on line %d already",
                              name, c->tokens[i].line, c->tokens[i].sha256, c->tokens[i - 1].line);
    return 0;
}

int hc_config_parse_tokens(struct hc_config *c, const char *name, const char *text, size_t len,
                           struct hc_error *err)
{
    struct line l = {.name = name};
    while (len) {
        const char *end = memchr(text, '\n', len);
        l.at = text;
        l.len = end ? (size_t)(end - text) : len;
        l.number++;
        size_t step = l.len + (end != NULL);
        if (parse_line(c, &l, err) < 0)
            return -1;
        text += step;
        len -= step;
    }
    return refuse_shared_tokens(c, name, err);
}
