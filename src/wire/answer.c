#include "wire/answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#define MAX_HEAD 65536 /* most bytes of a response's head */
#define MAX_LINE 1024  /* most bytes of a line within a body in chunks */

static int malformed(struct hc_error *err, const char *what)
{
    return hc_fail(err, 0, "the answer is not HTTP: %s", what);
}

void hc_answer_finish(struct hc_answer *a)
{
    hc_buf_finish(&a->body);
    hc_buf_finish(&a->line);
    *a = (struct hc_answer){0};
}

/* ---- the head of a response ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the first line, such as "HTTP/1.1 200 OK". */
static int read_status(struct hc_answer *a, const char *line, struct hc_error *err)
{
    static const char version[] = "HTTP/1.";
    size_t n = strlen(version);
    if (strncmp(line, version, n) != 0 || !is_digit(line[n]) || line[n + 1] != ' ')
        return malformed(err, "expected HTTP/1.1 and a status");
    line += n + 2;
    if (!is_digit(line[0]) || line[0] == '0' || !is_digit(line[1]) || !is_digit(line[2]) || is_digit(line[3]))
        return malformed(err, "expected a status of three digits");
    a->status = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
    return 0;
}

static int read_length(struct hc_answer *a, const char *value, struct hc_error *err)
{
    uint64_t length = 0;
    if (!*value || strlen(value) > 15)
        return malformed(err, "Content-Length");
    for (; *value; value++) {
        if (!is_digit(*value))
            return malformed(err, "Content-Length");
        length = length * 10 + (uint64_t)(*value - '0');
    }
    if (a->counted && a->left != length)
        return malformed(err, "Content-Length twice");
    a->counted = true;
    a->left = length;
    return 0;
}

static void copy_value(char *out, size_t size, const char *value)
{
    size_t n = strlen(value);
    if (n < size)
        memcpy(out, value, n + 1);
}

static int read_header(struct hc_answer *a, char *line, struct hc_error *err)
{
    char *value = strchr(line, ':');
    if (!value || value == line)
        return malformed(err, "a header without a name");
    *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t n = strlen(value); n && (value[n - 1] == ' ' || value[n - 1] == '\t'); n--)
        value[n - 1] = '\0';
    if (strcasecmp(line, "Content-Length") == 0)
        return read_length(a, value, err);
    if (strcasecmp(line, "Transfer-Encoding") == 0) {
        a->chunked = strcasecmp(value, "chunked") == 0;
        return a->chunked ? 0 : malformed(err, "a transfer encoding that is not 'chunked'");
    }
    if (strcasecmp(line, "Location") == 0)
        copy_value(a->location, sizeof a->location, value);
    if (strcasecmp(line, "Content-Type") == 0) {
        value[strcspn(value, "; ")] = '\0';
        copy_value(a->type, sizeof a->type, value);
    }
    return 0;
}

static void begin_body(struct hc_answer *a)
{
    if (a->status == 204 || a->status == 304)
        a->state = HC_ANSWER_DONE;
    else if (a->chunked)
        a->state = HC_ANSWER_CHUNK_SIZE;
    else if (a->counted)
        a->state = a->left ? HC_ANSWER_COUNTED : HC_ANSWER_DONE;
    else
        a->state = HC_ANSWER_TO_END;
}

/* Reads all lines of the head up to the empty line. */
static int read_head(struct hc_answer *a, struct hc_error *err)
{
    char *rest = a->line.data, *line = strsep(&rest, "\n");
    if (read_status(a, line, err) < 0)
        return -1;
    while ((line = strsep(&rest, "\n")) && *line)
        if (read_header(a, line, err) < 0)
            return -1;
    hc_buf_clear(&a->line);
    if (a->status < 200) { /* an interim response: the final one is still to come */
        a->status = 0;
        a->chunked = a->counted = false;
        return 0;
    }
    begin_body(a);
    return 0;
}

/* ---- lines ---- */

/* Adds to `line` the bytes up to and with the next line break, which becomes "\n" alone. Returns how many
 * bytes of `data` were used; *whole: the line break was among them. */
static size_t take_line(struct hc_answer *a, const char *data, size_t len, bool *whole)
{
    const char *end = memchr(data, '\n', len);
    size_t n = end ? (size_t)(end - data) : len;
    (void)hc_buf_add(&a->line, data, n);
    *whole = end != NULL;
    if (!end)
        return n;
    if (a->line.len && a->line.data[a->line.len - 1] == '\r')
        a->line.data[--a->line.len] = '\0';
    (void)hc_buf_add(&a->line, "\n", 1);
    return n + 1;
}

static int check_line(const struct hc_answer *a, size_t max, struct hc_error *err)
{
    if (a->line.failed)
        return hc_fail(err, ENOMEM, "read the answer");
    if (a->line.len > max)
        return malformed(err, "a head or a line that does not end");
    if (a->line.len && memchr(a->line.data, '\0', a->line.len))
        return malformed(err, "a NUL in its head");
    return 0;
}

static int feed_head(struct hc_answer *a, const char *data, size_t len, size_t *taken, struct hc_error *err)
{
    bool whole;
    *taken = take_line(a, data, len, &whole);
    if (check_line(a, MAX_HEAD, err) < 0)
        return -1;
    bool empty = a->line.len >= 2 ? strcmp(a->line.data + a->line.len - 2, "\n\n") == 0 : a->line.len == 1;
    return whole && empty ? read_head(a, err) : 0;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_chunk_size(struct hc_answer *a, struct hc_error *err)
{
    const char *p = a->line.data;
    a->left = 0;
    for (; hex_digit(*p) >= 0; p++) {
        if (a->left >> 40)
            return malformed(err, "the size of a chunk");
        a->left = a->left << 4 | (uint64_t)hex_digit(*p);
    }
    if (p == a->line.data || !strchr("\n; \t", *p))
        return malformed(err, "the size of a chunk");
    a->state = a->left ? HC_ANSWER_CHUNK : HC_ANSWER_TRAILER;
    return 0;
}

static int read_line(struct hc_answer *a, struct hc_error *err)
{
    bool empty = a->line.len == 1;
    switch (a->state) {
    case HC_ANSWER_CHUNK_SIZE:
        return read_chunk_size(a, err);
    case HC_ANSWER_CHUNK_END:
        a->state = HC_ANSWER_CHUNK_SIZE;
        return empty ? 0 : malformed(err, "a chunk that is longer than it said");
    default:
        if (empty)
            a->state = HC_ANSWER_DONE;
        return 0;
    }
}

static int feed_line(struct hc_answer *a, const char *data, size_t len, size_t *taken, struct hc_error *err)
{
    bool whole;
    *taken = take_line(a, data, len, &whole);
    if (check_line(a, MAX_LINE, err) < 0)
        return -1;
    int rc = whole ? read_line(a, err) : 0;
    if (whole)
        hc_buf_clear(&a->line);
    return rc;
}

/* ---- the body of a response ---- */

static int feed_body(struct hc_answer *a, const char *data, size_t len, size_t *taken, struct hc_error *err)
{
    bool bounded = a->state != HC_ANSWER_TO_END;
    *taken = bounded ? (size_t)MIN(a->left, len) : len;
    if (hc_buf_add(&a->body, data, *taken) < 0)
        return hc_fail(err, EMSGSIZE, "read the answer");
    if (!bounded)
        return 0;
    a->left -= *taken;
    if (a->left == 0)
        a->state = a->state == HC_ANSWER_CHUNK ? HC_ANSWER_CHUNK_END : HC_ANSWER_DONE;
    return 0;
}

int hc_answer_feed(struct hc_answer *a, const char *data, size_t len, struct hc_error *err)
{
    while (len && a->state != HC_ANSWER_DONE) {
        size_t taken = 0;
        int rc;
        switch (a->state) {
        case HC_ANSWER_HEAD:
            rc = feed_head(a, data, len, &taken, err);
            break;
        case HC_ANSWER_COUNTED:
        case HC_ANSWER_TO_END:
        case HC_ANSWER_CHUNK:
            rc = feed_body(a, data, len, &taken, err);
            break;
        default:
            rc = feed_line(a, data, len, &taken, err);
            break;
        }
        if (rc < 0)
            return -1;
        data += taken;
        len -= taken;
    }
    return 0;
}

int hc_answer_end(struct hc_answer *a, struct hc_error *err)
{
    if (a->state == HC_ANSWER_TO_END)
        a->state = HC_ANSWER_DONE;
    if (a->state == HC_ANSWER_DONE)
        return 0;
    return hc_fail(err, 0, "the connection was closed in the middle of the answer");
}
