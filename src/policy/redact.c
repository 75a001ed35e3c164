/* Text flows through stages: one for each rule, one for lines like KEY=value, and one that counts characters.
 * A stage holds text back as long as that text may be the beginning of a match. */
#include "policy/redact.h"

#include "base/utf8.h"
#include "policy/rules.h"

#define PCRE2_CODE_UNIT_WIDTH 8 /* bits of a code unit: the texts are UTF-8 */
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES             64                 /* most patterns of a policy */
#define WINDOW                ((size_t)64 << 10) /* bytes: the longest text that is held back whole */
#define WINDOW_ENDS           ((size_t)16 << 10) /* bytes kept of the beginning and of the end of longer text */
#define EAGER                 4096 /* bytes: shorter held text is searched whenever more text comes */
#define MAX_SEARCHES_GIVEN_UP 16   /* searches given up before a rule withholds all further text */
#define MAX_NAME              1024 /* bytes of a variable's name and the blanks before it */

static const char redacted[] = "<REDACTED>";

struct rule {
    pcre2_code *code;    /* the compiled pattern; owned */
    const char *replace; /* the replacement's text; borrowed from hc_redactor.texts */
    size_t look_behind;  /* bytes before a match that the pattern may look at; at least 1, for ^ */
};

struct hc_redactor {
    struct rule rules[MAX_RULES];
    size_t count; /* used entries of `rules` */
    /* Most lines like KEY=value that are shown of each run of such lines; most characters of a text; 0: no
     * limit. */
    int64_t env_lines, max_chars;
    char *note;                  /* text that follows what max_chars has cut; owned */
    cJSON *texts;                /* owned copy of the rules, which `replace` points into */
    pcre2_match_context *limits; /* bounds of one match's steps, depth and memory; owned */
};

/* ---- compiling ---- */

void hc_redactor_free(struct hc_redactor *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        pcre2_code_free(r->rules[i].code);
    pcre2_match_context_free(r->limits);
    cJSON_Delete(r->texts);
    free(r->note);
    free(r);
}

/* In "replace" \1 to \9 stand for groups of the pattern, which must exist. */
static int check_replace(const struct rule *rule, const char *name, struct hc_error *err)
{
    uint32_t groups = 0;
    (void)pcre2_pattern_info(rule->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    for (const char *p = rule->replace; (p = strchr(p, '\\')); p += 2) {
        if (p[1] != '\\' && (p[1] < '0' || p[1] > '9'))
            return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                              "redact.rules: '%.60s': expected a digit or \\ behind \\ in \"replace\"", name);
        if (p[1] != '\\' && (uint32_t)(p[1] - '0') > groups)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                              "redact.rules: '%.60s': \"replace\" names group %c, the pattern has %u", name,
                              p[1], groups);
    }
    return 0;
}

static int compile_rule(struct rule *rule, const cJSON *row, struct hc_error *err)
{
    const char *name = hc_json_text(row, "name"), *pattern = hc_json_text(row, "pattern");
    bool ignore_case = hc_json_is_true(row, "ignore_case");
    int code;
    PCRE2_SIZE offset;
    rule->replace = hc_json_text(row, "replace");
    /* Bytes, not characters: output need not be UTF-8, and may be cut anywhere. */
    rule->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                               (ignore_case ? PCRE2_CASELESS : 0) | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C,
                               &code, &offset, NULL);
    if (!rule->code) {
        char why[200];
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "redact.rules: '%.60s': bad pattern at offset %zu: %s",
                          name, offset, why);
    }
    uint32_t empty = 0, behind = 0;
    (void)pcre2_pattern_info(rule->code, PCRE2_INFO_MATCHEMPTY, &empty);
    (void)pcre2_pattern_info(rule->code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
    if (empty)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "redact.rules: '%.60s': the pattern matches the empty text",
                          name);
    rule->look_behind = behind > 1 ? behind : 1;
    /* This may fail, where memory cannot be made executable; then matching is only slower. */
    (void)pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    return check_replace(rule, name, err);
}

static int compile_all(struct hc_redactor *r, struct hc_error *err)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, r->texts)
    {
        if (r->count == MAX_RULES)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "redact.rules: more than %d", MAX_RULES);
        if (compile_rule(&r->rules[r->count++], row, err) < 0)
            return -1;
    }
    return 0;
}

int hc_redactor_new(struct hc_redactor **out, const cJSON *rules, struct hc_error *err)
{
    const cJSON *rows = hc_rules_get(rules, "redact", "rules");
    int64_t env_lines = hc_rules_count_of(rules, "redact", "env_lines", 0);
    int64_t max_chars = hc_rules_count_of(rules, "redact", "max_chars", 0);
    *out = NULL;
    if (cJSON_GetArraySize(rows) == 0 && !env_lines && !max_chars)
        return 0;
    struct hc_redactor *r = calloc(1, sizeof *r);
    if (!r)
        return hc_fail(err, ENOMEM, "redact");
    r->env_lines = env_lines;
    r->max_chars = max_chars;
    r->note = strdup(hc_rules_text(rules, "redact", "max_chars_note", ""));
    r->texts = rows ? cJSON_Duplicate(rows, true) : NULL;
    r->limits = pcre2_match_context_create(NULL);
    if (!r->note || !r->limits || (rows && !r->texts)) {
        hc_redactor_free(r);
        return hc_fail(err, ENOMEM, "redact");
    }
    (void)pcre2_set_match_limit(r->limits, 1000000);
    (void)pcre2_set_depth_limit(r->limits, 100000);
    (void)pcre2_set_heap_limit(r->limits, 16384); /* KiB */
    if (compile_all(r, err) < 0) {
        hc_redactor_free(r);
        return -1;
    }
    *out = r;
    return 0;
}

/* ---- the state of one text ---- */

/* One pattern's search in one text. */
struct stage {
    const struct rule *rule; /* borrowed from the redactor */
    pcre2_match_data *match; /* place of the last match; owned */
    struct hc_buf held;      /* look-behind that has been passed on, then the text that is held back */
    size_t at;               /* offset in `held` of the text that is held back */
    size_t next_look;        /* bytes held back from which the next search is worth its time */
    bool lost;               /* the middle of the text held back was dropped */
    bool skips_line;         /* the rest of this line is withheld */
    bool closed;             /* all further text is withheld */
    int searches_given_up;   /* searches given up so far */
};

/* The search for lines like KEY=value in one text. */
struct env_lines {
    enum { ENV_BLANK, ENV_NAME, ENV_VALUE, ENV_PLAIN, ENV_SHOWN, ENV_DROPPED } in;
    struct hc_buf held; /* the line's beginning, until it is known whether the line is like KEY=value */
    int64_t run;        /* lines like KEY=value without another line between them, so far */
};

/* How far redact.max_chars has got in one text. */
struct chars {
    int64_t count;    /* characters passed on so far */
    int more;         /* bytes of the last character that are still to come */
    bool full, noted; /* max_chars is reached; the note has been written */
};

struct hc_redaction {
    const struct hc_redactor *r;    /* borrowed */
    pcre2_match_context *context;   /* the redactor's `limits` with `stack`; owned */
    pcre2_jit_stack *stack;         /* stack of compiled patterns; owned */
    struct stage stages[MAX_RULES]; /* one for each of the redactor's rules */
    struct env_lines env;
    struct chars chars;
    bool shorten, withheld, failed; /* max_chars applies; text was withheld; memory ran out */
    int64_t redactions;             /* replacements so far, dropped lines included */
};

static void replace_with(struct hc_redaction *x, const char *text, struct hc_buf *out)
{
    (void)hc_buf_str(out, text);
    x->redactions++;
}

/* Pass on the held text up to `end`, which is no part of a match; if its middle was dropped, which could have
 * been part of one, pass on "<REDACTED>" instead. */
static void pass_text(struct hc_redaction *x, struct stage *s, size_t end, struct hc_buf *out)
{
    if (s->lost)
        replace_with(x, redacted, out);
    else
        (void)hc_buf_add(out, s->held.data + s->at, end - s->at);
    s->lost = false;
    s->at = end;
}

static void replace_match(struct hc_redaction *x, struct stage *s, struct hc_buf *out)
{
    const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(s->match);
    uint32_t groups = pcre2_get_ovector_count(s->match);
    for (const char *p = s->rule->replace; *p; p++) {
        if (*p != '\\') {
            (void)hc_buf_add(out, p, 1);
            continue;
        }
        p++;
        uint32_t group = (uint32_t)(*p - '0');
        if (*p == '\\')
            (void)hc_buf_add(out, p, 1);
        else if (group < groups && ovector[2 * group] != PCRE2_UNSET)
            (void)hc_buf_add(out, s->held.data + ovector[2 * group],
                             ovector[2 * group + 1] - ovector[2 * group]);
    }
    x->redactions++;
    s->lost = false;
    s->at = ovector[1];
}

/* The search was given up: withhold the rest of the line, and after MAX_SEARCHES_GIVEN_UP such searches all
 * further text. */
static void give_up(struct hc_redaction *x, struct stage *s, struct hc_buf *out)
{
    const char *from = s->held.data + s->at, *newline = memchr(from, '\n', s->held.len - s->at);
    x->withheld = true;
    s->lost = false;
    replace_with(x, redacted, out);
    s->closed = ++s->searches_given_up > MAX_SEARCHES_GIVEN_UP;
    s->skips_line = !newline;
    s->at = newline && !s->closed ? (size_t)(newline - s->held.data) + 1 : s->held.len;
    if (newline)
        (void)hc_buf_add(out, "\n", 1);
}

/* Drop the text that was passed on, except the bytes that the pattern may look back at. */
static void drop_passed(struct stage *s)
{
    size_t keep = s->at < s->rule->look_behind ? s->at : s->rule->look_behind;
    size_t gone = s->at - keep;
    if (gone == 0)
        return;
    memmove(s->held.data, s->held.data + gone, s->held.len - gone + 1);
    s->held.len -= gone;
    s->at = keep;
}

static int search_held(const struct hc_redaction *x, const struct stage *s, uint32_t options)
{
    return pcre2_match(s->rule->code, (PCRE2_SPTR)s->held.data, s->held.len, s->at, options | PCRE2_NOTEMPTY,
                       s->match, x->context);
}

/* Keep only the two ends of a possible match that has grown longer than WINDOW. */
static void drop_middle(struct stage *s)
{
    if (s->held.len - s->at <= WINDOW)
        return;
    size_t from = s->at + WINDOW_ENDS;
    memmove(s->held.data + from, s->held.data + s->held.len - WINDOW_ENDS, WINDOW_ENDS + 1);
    s->held.len = from + WINDOW_ENDS;
    s->lost = true;
}

/* Pass on the held text, with its matches replaced, up to the first match that more text could extend. With
 * `last` no more text will come. */
static void stage_work(struct hc_redaction *x, struct stage *s, bool last, struct hc_buf *out)
{
    while (!s->closed && s->at < s->held.len) {
        int rc = search_held(x, s, last ? 0 : PCRE2_PARTIAL_HARD);
        const PCRE2_SIZE *found = pcre2_get_ovector_pointer(s->match);
        if (rc == PCRE2_ERROR_NOMATCH) {
            pass_text(x, s, s->held.len, out);
        } else if (rc == PCRE2_ERROR_PARTIAL) {
            if (found[0] > s->at)
                pass_text(x, s, found[0], out);
            break;
        } else if (rc < 0 || found[1] <= s->at || found[0] < s->at) {
            give_up(x, s, out);
        } else {
            if (found[0] > s->at)
                pass_text(x, s, found[0], out);
            replace_match(x, s, out);
        }
    }
    drop_passed(s);
    drop_middle(s);
    size_t held = s->held.len - s->at;
    s->next_look = held < EAGER ? 0 : held + held / 4;
}

static void stage_feed(struct hc_redaction *x, struct stage *s, const char *text, size_t len,
                       struct hc_buf *out)
{
    if (s->skips_line && len) {
        const char *newline = memchr(text, '\n', len);
        s->skips_line = !newline;
        len = newline ? len - (size_t)(newline - text) : 0;
        text = newline;
    }
    if (s->closed || len == 0)
        return;
    if (hc_buf_add(&s->held, text, len) < 0)
        return;
    if (s->held.len - s->at >= s->next_look)
        stage_work(x, s, false, out);
}

static void stage_finish(struct hc_redaction *x, struct stage *s, bool cut, struct hc_buf *out)
{
    if (cut && s->at < s->held.len) {
        stage_work(x, s, false, out);
        if (s->at < s->held.len && search_held(x, s, PCRE2_ANCHORED) > 0)
            replace_match(x, s, out);
        else if (s->held.len - s->at > strlen(redacted))
            replace_with(x, redacted, out);
    } else if (s->held.data) {
        stage_work(x, s, true, out);
    }
    hc_buf_clear(&s->held);
    s->at = s->next_look = 0;
    s->lost = s->skips_line = false;
}

/* ---- lines like KEY=value ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void env_decide(struct hc_redaction *x, struct hc_buf *out)
{
    struct env_lines *e = &x->env;
    bool shown = ++e->run <= x->r->env_lines;
    if (shown) {
        const char *equals = memchr(e->held.data, '=', e->held.len);
        (void)hc_buf_add(out, e->held.data, (size_t)(equals - e->held.data) + 1);
        (void)hc_buf_str(out, redacted);
    }
    x->redactions++;
    hc_buf_clear(&e->held);
    e->in = shown ? ENV_SHOWN : ENV_DROPPED;
}

static void env_plain(struct env_lines *e, struct hc_buf *out)
{
    (void)hc_buf_add(out, e->held.data, e->held.len);
    hc_buf_clear(&e->held);
    e->run = 0;
    e->in = ENV_PLAIN;
}

/* Take one byte of a line of which it is not yet known whether it is like KEY=value. */
static void env_begin(struct hc_redaction *x, char c, struct hc_buf *out)
{
    struct env_lines *e = &x->env;
    bool stays = e->in == ENV_NAME ? is_letter(c) || (c >= '0' && c <= '9') : is_blank(c);
    if (e->in == ENV_VALUE && !stays && c != '\n') {
        env_decide(x, out);
        return;
    }
    (void)hc_buf_add(&e->held, &c, 1);
    if (e->in == ENV_BLANK && is_letter(c))
        e->in = ENV_NAME;
    else if (e->in == ENV_NAME && c == '=')
        e->in = ENV_VALUE;
    else if (!stays || e->held.len > MAX_NAME)
        env_plain(e, out);
    if (c == '\n')
        e->in = ENV_BLANK;
}

static void env_feed(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out)
{
    struct env_lines *e = &x->env;
    for (const char *end = text + len; text < end;) {
        if (e->in < ENV_PLAIN) {
            env_begin(x, *text++, out);
            continue;
        }
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *to = newline ? newline + 1 : end;
        if (e->in == ENV_PLAIN)
            (void)hc_buf_add(out, text, (size_t)(to - text));
        else if (newline && e->in == ENV_SHOWN)
            (void)hc_buf_add(out, "\n", 1);
        if (newline)
            e->in = ENV_BLANK;
        text = to;
    }
}

static void env_finish(struct hc_redaction *x, struct hc_buf *out)
{
    if (x->env.in < ENV_PLAIN)
        env_plain(&x->env, out);
    x->env.in = ENV_BLANK;
    x->env.run = 0;
}

/* ---- the count of characters ---- */

/* A byte that belongs to no character counts as one. */
static void chars_feed(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out)
{
    struct chars *c = &x->chars;
    size_t n = 0;
    while (n < len && !c->full) {
        bool inside = c->more > 0 && hc_utf8_continues(text[n]);
        if (!inside && c->count == x->r->max_chars) {
            c->full = true;
            break;
        }
        c->more = inside ? c->more - 1 : (int)hc_utf8_length(text[n]) - 1;
        c->count += !inside;
        n++;
    }
    (void)hc_buf_add(out, text, n);
    if (c->full && !c->noted)
        (void)hc_buf_str(out, x->r->note);
    c->noted = c->full;
}

/* ---- all stages ---- */

void hc_redaction_free(struct hc_redaction *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->r->count; i++) {
        pcre2_match_data_free(x->stages[i].match);
        hc_buf_finish(&x->stages[i].held);
    }
    pcre2_match_context_free(x->context);
    pcre2_jit_stack_free(x->stack);
    hc_buf_finish(&x->env.held);
    free(x);
}

struct hc_redaction *hc_redaction_new(const struct hc_redactor *r, bool shorten)
{
    struct hc_redaction *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->r = r;
    x->shorten = shorten;
    x->context = pcre2_match_context_copy(r->limits);
    x->stack = pcre2_jit_stack_create((size_t)32 << 10, (size_t)1 << 20, NULL);
    bool ok = x->context != NULL;
    for (size_t i = 0; i < r->count; i++) {
        x->stages[i].rule = &r->rules[i];
        x->stages[i].match = pcre2_match_data_create_from_pattern(r->rules[i].code, NULL);
        ok = ok && x->stages[i].match;
    }
    if (!ok) {
        hc_redaction_free(x);
        return NULL;
    }
    if (x->stack)
        pcre2_jit_stack_assign(x->context, NULL, x->stack);
    return x;
}

/* Send text through all stages: the output of each is the input of the next. */
static void feed_stages(struct hc_redaction *x, const char *text, size_t len, bool finish, bool cut,
                        struct hc_buf *out)
{
    hc_autobuf one = {0};
    hc_autobuf two = {0};
    struct hc_buf *from = &one, *to = &two;
    (void)hc_buf_add(from, text, len);
    for (size_t i = 0; i < x->r->count; i++) {
        struct stage *s = &x->stages[i];
        hc_buf_clear(to);
        stage_feed(x, s, from->data, from->len, to);
        if (finish)
            stage_finish(x, s, cut, to);
        x->failed = x->failed || to->failed || s->held.failed;
        struct hc_buf *swap = from;
        from = to;
        to = swap;
    }
    hc_buf_clear(to);
    if (x->r->env_lines) {
        env_feed(x, from->data, from->len, to);
        if (finish)
            env_finish(x, to);
        from = to;
    }
    if (x->shorten && x->r->max_chars)
        chars_feed(x, from->data, from->len, out);
    else
        (void)hc_buf_add(out, from->data, from->len);
    x->failed = x->failed || from->failed || x->env.held.failed || out->failed;
}

void hc_redaction_feed(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out)
{
    feed_stages(x, text, len, false, false, out);
}

void hc_redaction_finish(struct hc_redaction *x, bool cut, struct hc_buf *out)
{
    feed_stages(x, "", 0, true, cut, out);
}

int64_t hc_redaction_count(const struct hc_redaction *x)
{
    return x->redactions;
}

bool hc_redaction_short(const struct hc_redaction *x)
{
    return x->chars.full;
}

bool hc_redaction_withheld(const struct hc_redaction *x)
{
    return x->withheld;
}

bool hc_redaction_no_memory(const struct hc_redaction *x)
{
    return x->failed;
}

/* ---- JSON ---- */

/* Append one string of a JSON text, quotes included, redacted. */
static int redact_token(struct hc_redaction *x, const char *token, size_t len, struct hc_buf *out)
{
    cJSON *node = cJSON_ParseWithLength(token, len);
    const char *text = cJSON_GetStringValue(node);
    hc_autobuf clean = {0};
    int64_t before = x->redactions;
    if (text) {
        hc_redaction_feed(x, text, strlen(text), &clean);
        hc_redaction_finish(x, false, &clean);
    }
    cJSON_Delete(node);
    if (text && x->redactions == before)
        return hc_buf_add(out, token, len);
    hc_autobuf valid = {0};
    (void)hc_utf8_scrub(&valid, clean.data ? clean.data : "", clean.len);
    cJSON *changed = cJSON_CreateString(valid.data ? valid.data : "");
    char *printed = changed ? cJSON_PrintUnformatted(changed) : NULL;
    int rc = printed ? hc_buf_str(out, printed) : -1;
    cJSON_free(printed);
    cJSON_Delete(changed);
    return rc;
}

int hc_redaction_json(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out)
{
    const char *end = text + len;
    while (text < end) {
        const char *quote = memchr(text, '"', (size_t)(end - text));
        if (!quote)
            return hc_buf_add(out, text, (size_t)(end - text));
        const char *close = quote + 1;
        while (close < end && *close != '"')
            close += *close == '\\' && close + 1 < end ? 2 : 1;
        close += close < end;
        (void)hc_buf_add(out, text, (size_t)(quote - text));
        if (redact_token(x, quote, (size_t)(close - quote), out) < 0)
            return -1;
        text = close;
    }
    return out->failed ? -1 : 0;
}
