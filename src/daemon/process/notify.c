#include "daemon/process/notify.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/units.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

void hc_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    hc_autofd fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) /* if the service manager does not listen, there is nothing to do */
        (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, len);
}

void hc_notify_reloading(void)
{
    char text[80];
    (void)snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)hc_now_us());
    hc_notify(text);
}

int64_t hc_notify_watchdog(void)
{
    int64_t usec = 0, pid = 0;
    const char *text = getenv("WATCHDOG_USEC"), *whose = getenv("WATCHDOG_PID");
    if (!text || hc_parse_int(text, &usec) < 0 || usec <= 0)
        return 0;
    if (whose && (hc_parse_int(whose, &pid) < 0 || pid != getpid()))
        return 0;
    return usec / 2000 > 0 ? usec / 2000 : 1;
}
