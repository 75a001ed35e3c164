/* Any bytes as a configuration, and as its file of tokens: they are refused, or the printed configuration is
 * read back as the same. */
#include "daemon/config/config.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void same_again(const struct hc_config *c)
{
    struct hc_config again;
    struct hc_error err = {0};
    cJSON *root = hc_config_to_json(c), *twice;
    char *text = cJSON_PrintUnformatted(root);
    require(hc_config_parse(&again, "again", text, strlen(text), &err) == 0);
    twice = hc_config_to_json(&again);
    char *text_again = cJSON_PrintUnformatted(twice);
    require(strcmp(text, text_again) == 0);
    free(text);
    free(text_again);
    cJSON_Delete(root);
    cJSON_Delete(twice);
    hc_config_finish(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char usual[] = "{\"tenants\": {\"a\": {}, \"bc\": {}}}";
    const char *text = (const char *)data;
    struct hc_config c;
    struct hc_error err = {0};
    if (hc_config_parse(&c, "input", text, len, &err) == 0) {
        same_again(&c);
        hc_config_finish(&c);
    } else {
        require(err.exit == HC_EXIT_CONFIG && *err.text);
    }
    require(hc_config_parse(&c, "usual", usual, sizeof usual - 1, &err) == 0);
    if (hc_config_parse_tokens(&c, "tokens", text, len, &err) < 0)
        require(*err.text);
    for (size_t i = 0; i < c.token_count; i++)
        require(strlen(c.tokens[i].sha256) == HC_SHA256_HEX - 1 && *c.tokens[i].tenant);
    hc_config_finish(&c);
    return 0;
}
