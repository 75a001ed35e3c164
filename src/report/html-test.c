/* Text stays text, in sentences and in attributes; numbers read as people write them; pictures are pictures.
 */
#include "report/chart.h"
#include "report/code.h"
#include "report/html.h"
#include "report/image.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_text(const char *text, size_t len, const char *expected)
{
    hc_autobuf out = {0};
    hc_html_text(&out, text, len);
    assert_false(out.failed);
    assert_string_equal(out.data ? out.data : "", expected);
}

static void text_is_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"<a href='x' b=\"y\">&amp;", "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;"},
        {"tab\tand\nline", "tab\tand\nline"},
        {"\r\x1b[31m\x7f", "\xe2\x90\x8d\xe2\x90\x9b[31m\xe2\x9f\xa6U+007F\xe2\x9f\xa7"},
        {"a\xe2\x80\xae"
         "b",
         "a\xe2\x9f\xa6U+202E\xe2\x9f\xa7"
         "b"},
        {"\xf3\xa0\x81\x81", "\xe2\x9f\xa6U+E0041\xe2\x9f\xa7"},
        {"\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x8e\x89", "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x8e\x89"},
        {"\xff<\xc3", "\xef\xbf\xbd&lt;\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_text(rows[i].text, strlen(rows[i].text), rows[i].expected);
    check_text("a\0b", 3,
               "a\xe2\x90\x80"
               "b");
}

static void marks_do_not_pile_up(void **state)
{
    (void)state;
    hc_autobuf text = {0}, out = {0};
    (void)hc_buf_str(&text, "e");
    for (int i = 0; i < 6; i++)
        (void)hc_buf_str(&text, "\xcc\x81");
    hc_html_text(&out, text.data, text.len);
    assert_string_equal(
        out.data,
        "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xe2\x9f\xa6U+0301\xe2\x9f\xa7\xe2\x9f\xa6U+0301\xe2\x9f\xa7");
}

static void markup_takes_what_it_knows(void **state)
{
    (void)state;
    hc_autobuf out = {0};
    hc_html(&out, "<a b=\"%s\">%d %ld %zu %.2f 100%%</a>", "\"<", -1, 2L, (size_t)3, 4.567);
    assert_string_equal(out.data, "<a b=\"&quot;&lt;\">-1 2 3 4.57 100%</a>");
}

static void long_words_are_cut_between_characters(void **state)
{
    (void)state;
    hc_autobuf text = {0}, out = {0};
    (void)hc_buf_str(&text, "x");
    for (int i = 0; i < 1500; i++)
        (void)hc_buf_str(&text, "\xc3\xa9");
    hc_html(&out, "%s", text.data);
    assert_in_range(out.len, 2000, 2060);
    assert_non_null(strstr(out.data, "\xc3\xa9\xe2\x80\xa6 (1000 bytes left out)"));
}

static void long_texts_lose_their_middle(void **state)
{
    (void)state;
    hc_autobuf text = {0}, out = {0}, whole = {0};
    for (int i = 0; i < 1000; i++)
        (void)hc_buf_fmt(&text, "%03d\xc3\xa9", i);
    hc_html_bounded(&out, text.data, text.len, 1000);
    assert_memory_equal(out.data,
                        "000\xc3\xa9"
                        "001",
                        8);
    assert_string_equal(out.data + out.len - 5, "999\xc3\xa9");
    assert_non_null(strstr(out.data, "4000 bytes left out here"));
    hc_html_bounded(&whole, text.data, text.len, text.len);
    assert_string_equal(whole.data, text.data);
}

static void base64_is_whole(void **state)
{
    (void)state;
    static char data[10000];
    hc_autobuf out = {0}, small = {0};
    hc_html_base64(&out, data, sizeof data);
    assert_int_equal(out.len, 13336);
    assert_null(memchr(out.data, '=', out.len - 2));
    hc_html_base64(&small, "hi", 2);
    assert_string_equal(small.data, "aGk=");
}

static void numbers_are_for_people(void **state)
{
    (void)state;
    char out[64];
    assert_string_equal(hc_html_count(0, "file", "files", out), "no files");
    assert_string_equal(hc_html_count(1, "file", "files", out), "1 file");
    assert_string_equal(hc_html_count(2, "file", "files", out), "2 files");
    assert_string_equal(hc_html_size(0, out), "0 B");
    assert_string_equal(hc_html_size(1536, out), "1.5 KiB");
    assert_string_equal(hc_html_size(64.0 * 1024 * 1024, out), "64 MiB");
    assert_string_equal(hc_html_size(1e300, out), "8.88e+284 PiB");
    assert_string_equal(hc_html_time(0.0213, out), "21 ms");
    assert_string_equal(hc_html_time(1.5, out), "1.50 s");
    assert_string_equal(hc_html_time(600, out), "10 min");
    assert_string_equal(hc_html_time((double)NAN, out), "\xe2\x80\x93");
    assert_string_equal(hc_html_size(-1, out), "\xe2\x80\x93");
}

static void pictures_are_what_they_say(void **state)
{
    (void)state;
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03";
    static const char large[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff";
    static const char gif[] = "GIF89a\x02\0\x03\0";
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\x04xx\xff\xc0\0\x11\x08\0\x03\0\x02\x03";
    static const char svg[] = "<?xml version='1.0'?><svg/>";
    static const char entities[] = "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>";
    static const struct {
        const char *mime, *data;
        size_t len;
        int width, height; /* -1: refused */
    } rows[] = {
        {"image/png", png, sizeof png - 1, 2, 3},
        {"image/png", large, sizeof large - 1, -1, 0},
        {"image/png", gif, sizeof gif - 1, -1, 0},
        {"image/png", png, 10, -1, 0},
        {"image/png", "", 0, -1, 0},
        {"image/gif", gif, sizeof gif - 1, 2, 3},
        {"image/jpeg", jpeg, sizeof jpeg - 1, 2, 3},
        {"image/jpeg", jpeg, 8, -1, 0},
        {"image/svg+xml", svg, sizeof svg - 1, 0, 0},
        {"image/svg+xml", entities, sizeof entities - 1, -1, 0},
        {"image/svg+xml", png, sizeof png - 1, -1, 0},
        {"text/html", svg, sizeof svg - 1, -1, 0},
        {"image/webp", svg, sizeof svg - 1, -1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int width, height;
        const char *why = hc_image_refusal(rows[i].mime, rows[i].data, rows[i].len, &width, &height);
        if (rows[i].width < 0) {
            assert_non_null(why);
            continue;
        }
        assert_null(why);
        assert_int_equal(width, rows[i].width);
        assert_int_equal(height, rows[i].height);
    }
}

static void pictures_have_the_room_that_there_is(void **state)
{
    (void)state;
    static const char gif[] = "GIF89a\x02\0\x03\0";
    hc_autobuf out = {0};
    size_t room = 15;
    hc_image_put(&out, "image/gif", "<a>", gif, 10, &room);
    assert_string_equal(
        out.data,
        "<img alt=\"&lt;a&gt;\" width=\"2\" height=\"3\" src=\"data:image/gif;base64,R0lGODlhAgADAA==\">");
    assert_int_equal(room, 5);
    hc_buf_clear(&out);
    hc_image_put_base64(&out, "image/gif", "b", "R0lGODlhAgADAA==", &room);
    assert_null(strstr(out.data, "<img"));
    hc_buf_clear(&out);
    room = 100;
    hc_image_put_base64(&out, "image/gif", "b", "R0lGODlh\nAgADAA==", &room);
    assert_non_null(strstr(out.data, "<img"));
    hc_buf_clear(&out);
    hc_image_put_base64(&out, "image/gif", "b", "\"><script>", &room);
    assert_string_equal(out.data, "<p class=\"none\">Not shown: it is not base64.</p>");
}

static void code_has_its_marks(void **state)
{
    (void)state;
    static const char code[] = "import \xc3\xa9, os\nx = '''a\n# b''' # c\n";
    struct hc_mark marks[] = {
        {.line = 9, .class = "warned", .what = "far", .message = "", .hint = ""},
        {.line = 1,
         .column = 11,
         .end_column = 13,
         .class = "refused",
         .what = "imports",
         .message = "<os>",
         .hint = "h",
         .count = 2},
    };
    hc_autobuf out = {0};
    hc_code_put(&out, code, strlen(code), marks, 2);
    assert_non_null(strstr(out.data, "<div class=\"l refused\" id=\"L1\">"));
    assert_non_null(strstr(out.data, "<i class=\"k\">import</i> \xc3\xa9, <mark>os</mark></code></div>"));
    assert_non_null(strstr(out.data, "<b>imports</b> &lt;os&gt; <span class=\"muted\">2 times</span>"));
    assert_non_null(strstr(out.data, "<i class=\"s\"># b&#39;&#39;&#39;</i> <i class=\"c\"># c</i>"));
    assert_non_null(strstr(out.data, "<b>far</b>"));
    assert_null(strstr(out.data, "id=\"L4\""));
}

/* Marks at places that do not exist, and code that ends in the middle of something. */
static void code_may_be_anything(void **state)
{
    (void)state;
    static const char *const codes[] = {"", "\n", "'", "'''", "\"\\", "f'", "\xff\xc3", "0", "#", "rb'\\\n"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        hc_autobuf out = {0};
        struct hc_mark mark = {.line = 1,
                               .column = 99,
                               .end_column = 1000000,
                               .class = "refused",
                               .what = "",
                               .message = "",
                               .hint = ""};
        hc_code_put(&out, codes[i], strlen(codes[i]), &mark, 1);
        assert_false(out.failed);
        assert_non_null(strstr(out.data, "note refused"));
    }
}

static void a_histogram_counts_each_once(void **state)
{
    (void)state;
    static const double values[] = {1, 1, 1, 8, 0};
    hc_autobuf out = {0};
    hc_chart_histogram(
        &out, &(struct hc_histogram){.title = "t", .values = values, .count = 5, .format = hc_html_time});
    assert_non_null(strstr(out.data, "<span class=\"top\">4 jobs</span>"));
    assert_non_null(strstr(out.data, "<title>4 jobs, 1.00 s to"));
    assert_non_null(strstr(out.data, "<title>1 job, "));
}

static void charts_take_any_numbers(void **state)
{
    (void)state;
    static const double values[] = {0, -1, 1e-300, 1e300, 5};
    const struct hc_point points[] = {{0, 0}, {1e-9, 1e300}, {1e300, 1}};
    hc_autobuf out = {0};
    for (size_t count = 0; count <= 5; count++)
        hc_chart_histogram(&out, &(struct hc_histogram){
                                     .title = "t", .values = values, .count = count, .format = hc_html_time});
    for (size_t count = 0; count <= 3; count++)
        hc_chart_line(
            &out,
            &(struct hc_line_chart){
                .title = "t", .points = points, .count = count, .until = 1e300, .format = hc_html_size});
    hc_chart_bar(&out, "good", 1, 0);
    assert_false(out.failed);
    assert_null(strstr(out.data, "nan"));
    assert_null(strstr(out.data, "inf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(marks_do_not_pile_up),
        cmocka_unit_test(markup_takes_what_it_knows),
        cmocka_unit_test(long_words_are_cut_between_characters),
        cmocka_unit_test(long_texts_lose_their_middle),
        cmocka_unit_test(base64_is_whole),
        cmocka_unit_test(numbers_are_for_people),
        cmocka_unit_test(pictures_are_what_they_say),
        cmocka_unit_test(pictures_have_the_room_that_there_is),
        cmocka_unit_test(code_has_its_marks),
        cmocka_unit_test(code_may_be_anything),
        cmocka_unit_test(a_histogram_counts_each_once),
        cmocka_unit_test(charts_take_any_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
