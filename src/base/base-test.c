/* The bottom layer: units, buffers, errors, descriptors, hashes. */
#include "base/array.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/plain.h"
#include "base/units.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define REFUSED      (-1)

static void sizes_are_read_in_powers_of_1024(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {"0", 0},
        {"4096", 4096},
        {"512K", 512 << 10},
        {"512k", 512 << 10},
        {"1KiB", 1 << 10},
        {"2MB", 2 << 20},
        {"1.5M", 3 << 19},
        {"1T", INT64_C(1) << 40},
        {"2000T", INT64_C(2000) << 40},
        {"", REFUSED},
        {"K", REFUSED},
        {".", REFUSED},
        {"-1", REFUSED},
        {"+1", REFUSED},
        {" 1", REFUSED},
        {"1 ", REFUSED},
        {"1.2.3", REFUSED},
        {"0x10", REFUSED},
        {"1e3", REFUSED},
        {"inf", REFUSED},
        {"nan", REFUSED},
        {"1P", REFUSED},
        {"1Ki", REFUSED},
        {"99999999999999T", REFUSED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t bytes = REFUSED;
        if (hc_parse_size(rows[i].text, &bytes) < 0)
            bytes = REFUSED;
        if (bytes != rows[i].bytes)
            fail_msg("'%s' gives %lld", rows[i].text, (long long)bytes);
    }
}

static void durations_are_read_in_milliseconds(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"60", 60000},  {"1.5", 1500},    {"0.0001", 1},   {"500ms", 500},    {"10s", 10000},
        {"2m", 120000}, {"2min", 120000}, {"1h", 3600000}, {"0", 0},          {"", REFUSED},
        {"s", REFUSED}, {"-1s", REFUSED}, {"1d", REFUSED}, {"1h30", REFUSED}, {"1,5", REFUSED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ms = REFUSED;
        if (hc_parse_duration(rows[i].text, &ms) < 0)
            ms = REFUSED;
        if (ms != rows[i].ms)
            fail_msg("'%s' gives %lld", rows[i].text, (long long)ms);
    }
}

static void text_of_others_is_made_plain(void **state)
{
    static const struct {
        const char *text, *line, *ascii;
    } rows[] = {
        {"plain", "plain", "plain"},
        {"", "", ""},
        {"a\nb\x1b[2J\x7f", "a?b?[2J?", "a\\u000ab\\u001b[2J\\u007f"},
        {"caf\xc3\xa9", "caf\xc3\xa9", "caf\\u00e9"},
        {"\xe2\x80\xaegnp.exe", "?gnp.exe", "\\u202egnp.exe"},
        {"\xc2\x9b"
         "31m",
         "?31m", "\\u009b31m"},
        {"\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf", "???", "\\u2066\\u200b\\ufeff"},
        {"\xf3\xa0\x81\x81", "?", "\\U000e0041"},
        {"a\xcd\x8f\xef\xb8\x8e\xef\xb8\x8f", "a???", "a\\u034f\\ufe0e\\ufe0f"},
        {"\xf0\x9b\xb2\xa0\xf0\x9b\xb2\xa3", "??", "\\U0001bca0\\U0001bca3"},
        {"\xcd\x8e\xef\xb8\x90\xf0\x9b\xb2\x9f", "\xcd\x8e\xef\xb8\x90\xf0\x9b\xb2\x9f",
         "\\u034e\\ufe10\\U0001bc9f"}, /* their neighbours are seen */
        {"\xf0\x9f\x90\x8d", "\xf0\x9f\x90\x8d", "\\U0001f40d"},
        {"\xff\xe2\x80", "??", "\\xff\\xe2\\x80"},
        {"cut\xe2\x80", "cut?", "cut\\xe2\\x80"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[64], ascii[64];
        (void)snprintf(line, sizeof line, "%s", rows[i].text);
        hc_plain_line(line);
        assert_string_equal(line, rows[i].line);
        hc_plain_ascii(ascii, sizeof ascii, rows[i].text);
        assert_string_equal(ascii, rows[i].ascii);
    }
    char small[8];
    hc_plain_ascii(small, sizeof small, "abc\xe2\x80\xae");
    assert_string_equal(small, "abc"); /* no half of an escape */
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t unfinished, boundary, count; /* boundary: from 1 on */
    } rows[] = {
        {"", 0, 0, 0},
        {"ab", 0, 1, 2},
        {"a\xc3", 1, 1, 2},
        {"\xc3\xa9", 0, 2, 1},
        {"a\xe2\x82", 2, 1, 2},
        {"\xe2\x82\xac!", 0, 3, 2},
        {"\xf0\x9f\x98", 3, 3, 1},
        {"\xf0\x9f\x98\x80", 0, 4, 1},
        {"\x80\x80\x80\x80", 0, 4, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        assert_int_equal(hc_utf8_unfinished(rows[i].text, len), rows[i].unfinished);
        assert_int_equal(hc_utf8_boundary(rows[i].text, len, len ? 1 : 0), rows[i].boundary);
        assert_int_equal(hc_utf8_count(rows[i].text, len), rows[i].count);
    }
}

static void integers_are_plain(void **state)
{
    int64_t value;
    (void)state;
    assert_int_equal(hc_parse_int("-12", &value), 0);
    assert_int_equal(value, -12);
    static const char *const refused[] = {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "99999999999999999999"};
    for (size_t i = 0; i < COUNT(refused); i++)
        if (hc_parse_int(refused[i], &value) == 0)
            fail_msg("'%s' is taken for an integer", refused[i]);
}

static void formatted_units_read_back_exactly(void **state)
{
    static const int64_t values[] = {0,    1,     999,     1000,          1023, 1024,
                                     1536, 60000, 1 << 20, (1 << 20) + 1, 1500, 1 << 30};
    char text[32];
    int64_t back;
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        assert_int_equal(hc_parse_size(hc_format_size(values[i], text, sizeof text), &back), 0);
        assert_int_equal(back, values[i]);
        assert_int_equal(hc_parse_duration(hc_format_duration(values[i], text, sizeof text), &back), 0);
        assert_int_equal(back, values[i]);
    }
    assert_string_equal(hc_format_size(INT64_C(512) << 20, text, sizeof text), "512M");
    assert_string_equal(hc_format_duration(1500, text, sizeof text), "1500ms");
}

static void a_buffer_stops_at_its_ceiling(void **state)
{
    (void)state;
    hc_autobuf b = {.max = 8};
    assert_int_equal(hc_buf_str(&b, "12345"), 0);
    assert_int_equal(hc_buf_str(&b, "6789"), -1);
    assert_true(b.failed);
    assert_int_equal(hc_buf_str(&b, "6"), -1); /* a failure sticks */
    assert_string_equal(b.data, "12345");
    assert_null(hc_buf_take(&b));
}

static void a_buffer_keeps_nul_bytes_and_ends_in_one(void **state)
{
    (void)state;
    hc_autobuf b = {0};
    assert_int_equal(hc_buf_add(&b, "a\0b", 3), 0);
    assert_int_equal(hc_buf_fmt(&b, "%d", 7), 0);
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.data, "a\0b7", 5);
}

static void taking_from_an_empty_buffer_gives_an_empty_string(void **state)
{
    (void)state;
    hc_autobuf b = {0};
    char *text = hc_buf_take(&b);
    assert_string_equal(text, "");
    free(text);
}

static void an_error_reads_from_the_outside_in(void **state)
{
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_fail(&err, ENOENT, "open %s", "memory.max"), -1);
    assert_int_equal(hc_ctx(&err, "limit memory of cell '%s'", "a1"), -1);
    assert_string_equal(err.text, "limit memory of cell 'a1': open memory.max: No such file or directory");
    assert_int_equal(err.exit, HC_EXIT_INTERNAL);
    assert_int_equal(err.sys, ENOENT);
}

static void an_error_is_one_line(void **state)
{
    struct hc_error err;
    (void)state;
    (void)hc_fail_as(&err, HC_EXIT_DATA, 0, "%s",
                     "a\nb\033[2Jc\x7f\xc2\x9b"
                     "2J\xc2\xa0");
    assert_string_equal(err.text, "a?b?[2Jc??2J\xc2\xa0");
    assert_int_equal(err.exit, HC_EXIT_DATA);
    (void)hc_ctx(&err, "x\ny");
    assert_null(strchr(err.text, '\n'));
}

static void a_long_error_is_cut(void **state)
{
    struct hc_error err;
    char longer[2000];
    (void)state;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    (void)hc_fail(&err, ENOENT, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    (void)hc_ctx(&err, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    static struct folder f;
    (void)snprintf(f.path, sizeof f.path, "/tmp/hotcell-base-test.XXXXXX");
    *state = &f;
    return mkdtemp(f.path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", ((struct folder *)*state)->path);
    return system(command);
}

static const char *below(void **state, const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", ((struct folder *)*state)->path, name);
    return path;
}

static void a_fifo_in_place_of_a_file_is_refused_at_once(void **state)
{
    struct hc_error err;
    hc_autobuf text = {0};
    const char *path = below(state, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10); /* ends the test if this blocks */
    assert_int_equal(hc_read_file(AT_FDCWD, path, &text, 100, &err), -1);
    alarm(0);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(err.exit, HC_EXIT_DATA);
}

static void a_file_is_read_up_to_a_bound(void **state)
{
    struct hc_error err;
    hc_autobuf text = {0};
    hc_autofd fd = open(below(state, "file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(hc_write_all(fd, "hello", 5, &err), 0);
    assert_int_equal(hc_read_file(AT_FDCWD, below(state, "file"), &text, 5, &err), 0);
    assert_string_equal(text.data, "hello");
    assert_int_equal(hc_read_file(AT_FDCWD, below(state, "file"), &text, 4, &err), -1);
    assert_int_equal(err.sys, EFBIG);
    assert_int_equal(hc_read_file(AT_FDCWD, below(state, "absent"), &text, 4, &err), -1);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(hc_read_file(AT_FDCWD, below(state, ""), &text, 4, &err), -1);
    assert_int_equal(err.sys, EISDIR);
}

static void a_sealed_memfd_cannot_be_changed(void **state)
{
    struct hc_error err;
    char back[8] = "";
    (void)state;
    hc_autofd fd = hc_sealed_memfd("test", "hello", 5, &err);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, back, sizeof back), 5);
    assert_string_equal(back, "hello");
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void folders_are_made_with_their_parents(void **state)
{
    struct hc_error err;
    struct stat st;
    assert_int_equal(hc_make_dirs(below(state, "a/b/c"), 0700, &err), 0);
    assert_int_equal(stat(below(state, "a/b/c"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(hc_make_dirs(below(state, "a/b/c"), 0700, &err), 0);
    hc_autofd fd = open(below(state, "a/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(hc_make_dirs(below(state, "a/file"), 0700, &err), -1);
    assert_int_equal(err.sys, ENOTDIR);
}

static void hmac_agrees_with_rfc_4231(void **state)
{
    static const struct {
        const char *key;
        size_t key_len;
        const char *data, *digest;
    } rows[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 20, "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", 4, "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    };
    char hex[HC_SHA256_HEX], key[131];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        hc_hmac_hex(rows[i].key, rows[i].key_len, rows[i].data, strlen(rows[i].data), hex);
        assert_string_equal(hex, rows[i].digest);
    }
    memset(key, 0xaa, sizeof key); /* longer than a block */
    static const char data[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    hc_hmac_hex(key, sizeof key, data, strlen(data), hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void sha256_agrees_with_fips_180(void **state)
{
    char hex[HC_SHA256_HEX];
    (void)state;
    hc_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(hc_digest_equal(hex, hex));
    assert_false(hc_digest_equal(hex, "ba78"));
    char other[HC_SHA256_HEX];
    hc_sha256_hex("abd", 3, other);
    assert_false(hc_digest_equal(hex, other));
}

static void an_array_keeps_its_elements_as_it_grows(void **state)
{
    size_t *array = NULL, moves = 0, count = 0;
    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        uintptr_t before = (uintptr_t)array;
        array = hc_array_grow(array, count, sizeof *array);
        assert_non_null(array);
        moves += (uintptr_t)array != before;
        array[count++] = i;
        if (i % 1000 == 999)
            count -= 10; /* elements are taken off the end, and others take their place */
    }
    assert_true(moves <= 15);
    assert_int_equal(count, 9900);
    assert_int_equal(array[989], 989);
    assert_int_equal(array[990], 1000);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read_in_powers_of_1024),
        cmocka_unit_test(durations_are_read_in_milliseconds),
        cmocka_unit_test(integers_are_plain),
        cmocka_unit_test(text_of_others_is_made_plain),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(formatted_units_read_back_exactly),
        cmocka_unit_test(a_buffer_stops_at_its_ceiling),
        cmocka_unit_test(a_buffer_keeps_nul_bytes_and_ends_in_one),
        cmocka_unit_test(taking_from_an_empty_buffer_gives_an_empty_string),
        cmocka_unit_test(an_error_reads_from_the_outside_in),
        cmocka_unit_test(an_error_is_one_line),
        cmocka_unit_test(a_long_error_is_cut),
        cmocka_unit_test_setup_teardown(a_fifo_in_place_of_a_file_is_refused_at_once, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_is_read_up_to_a_bound, make_folder, remove_folder),
        cmocka_unit_test(a_sealed_memfd_cannot_be_changed),
        cmocka_unit_test_setup_teardown(folders_are_made_with_their_parents, make_folder, remove_folder),
        cmocka_unit_test(hmac_agrees_with_rfc_4231),
        cmocka_unit_test(sha256_agrees_with_fips_180),
        cmocka_unit_test(an_array_keeps_its_elements_as_it_grows),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
