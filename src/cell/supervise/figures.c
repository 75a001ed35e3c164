#include "cell/supervise/figures.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "cell/supervise/supervise.h"
#include "policy/rules.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>

/* Open the figure's file with the care that collecting takes: follow no link, and take only a regular file
 * that is not larger than limits.figure_size allows. */
static int open_figure(const struct hc_supervisor *s, struct hc_figure *f)
{
    struct stat st;
    struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                                      RESOLVE_NO_XDEV};
    hc_autofd fd = hc_openat2(s->output_fd, f->path, &how);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
        return -1;
    f->bytes = st.st_size;
    return f->bytes > 0 && f->bytes <= s->policy->limits.figure_bytes ? hc_take(&fd) : -1;
}

int hc_figures_handle(struct hc_supervisor *s, struct hc_error *err)
{
    struct hc_figure f;
    if (hc_figure_parse(&f, s->inbox.body.data, s->inbox.body.len, err) < 0)
        return -1;
    const char *folder = hc_rules_text(s->policy->rules, "figures", "directory", "figures");
    const char *mime = hc_figure_mime(folder, f.path);
    if (!mime || s->output_fd < 0)
        return 0;
    (void)snprintf(f.mime, sizeof f.mime, "%s", mime);
    hc_figure_list_add(&s->drawn, &f);
    if (!s->figure_sink.take || s->figures_announced >= s->policy->limits.figures * HC_FIGURE_NOTICES)
        return 0;
    s->figures_announced++;
    hc_autofd fd = open_figure(s, &f);
    if (fd >= 0)
        s->figure_sink.take(s->figure_sink.ctx, &f, fd);
    return 0;
}
