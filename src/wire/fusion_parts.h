/* fusion_parts.h - private to src/wire: what programs and notebooks in SandboxFusion's form have in common.
 */
#ifndef HC_WIRE_FUSION_PARTS_H
#define HC_WIRE_FUSION_PARTS_H

#include "json/json.h"
#include "wire/fusion.h"

#define HC_FUSION_MAX_WARNINGS 20 /* warnings of one program that are passed on */

struct hc_fusion_language;

/* A request that is being read. */
struct hc_fusion_request {
    struct hc_json json;                       /* its document */
    const struct hc_fusion_rules *rules;       /* borrowed */
    const char *own_file;                      /* name of the file that the code itself becomes; NULL: none */
    const struct hc_fusion_language *language; /* a program's language, a row of the table */
    const cJSON *code;                         /* a string */
    const cJSON *cells;                        /* a notebook's cells, a list of strings */
    const cJSON *stdin_text;                   /* a string; NULL: none */
    const cJSON *args, *files, *fetch;         /* NULL: none */
    double timeout_s;                          /* seconds; 0: the policy's */
    double memory_mb;                          /* megabytes; 0: the policy's */
};

/* Take a member that is there and not null, of the type that `is` tells; -1: it has another type. */
int hc_fusion_take(const struct hc_fusion_request *r, const char *name, cJSON_bool (*is)(const cJSON *),
                   const char *expected, const cJSON **out, struct hc_error *err);
/* Take a number of seconds or megabytes above 0; -1 stands for none, as null does. */
int hc_fusion_take_amount(struct hc_fusion_request *r, const char *name, double *out, struct hc_error *err);
/* Take "files", "fetch_files" and "memory_limit_MB". */
int hc_fusion_take_common(struct hc_fusion_request *r, struct hc_error *err);
/* Check that a list, or NULL, has strings alone; that the files are such as a job may have. */
int hc_fusion_check_strings(const struct hc_fusion_request *r, const cJSON *list, struct hc_error *err);
int hc_fusion_check_files(const struct hc_fusion_request *r, struct hc_error *err);

/* Append a value as the document has written it; a text as JSON. */
void hc_fusion_put_source(struct hc_buf *out, const struct hc_json *json, const cJSON *node);
void hc_fusion_put_string(struct hc_buf *out, const char *text);
/* Append the members that specs of programs and of notebooks have in common, behind a comma. */
void hc_fusion_put_common(struct hc_buf *out, const struct hc_fusion_request *r, const char *policy);
/* Take a list out of the request, unless it is empty; the caller owns it. */
cJSON *hc_fusion_take_list(const struct hc_fusion_request *r, const cJSON *list);

#endif
