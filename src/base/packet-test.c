/* Packets with descriptors: what comes along is taken, or closed. */
#include "base/fd.h"
#include "base/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int make_pair(void **state)
{
    static int pair[2];
    *state = pair;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int close_pair(void **state)
{
    int *pair = *state;
    hc_close_fd(&pair[0]);
    hc_close_fd(&pair[1]);
    return 0;
}

/* The ends of a pipe: who reads sees its end when nobody has the other one open any more. */
static void send_pipe_end(int socket, int ends[2])
{
    assert_int_equal(pipe(ends), 0);
    const int sent[2] = {ends[0], ends[1]};
    assert_int_equal(hc_packet_send(socket, "two", 3, sent, 2, 0), 0);
    hc_close_fd(&ends[1]);
}

static void descriptors_come_with_their_bytes(void **state)
{
    int *pair = *state, ends[2], got[3];
    char text[8], byte;
    send_pipe_end(pair[0], ends);
    struct hc_packet p = {.fds = got, .room = 3};
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, 0), 3);
    assert_memory_equal(text, "two", 3);
    assert_int_equal(p.count, 2);
    assert_false(p.cut);
    assert_int_equal(got[2], -1);
    assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(got[1], "x", 1), 1);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    for (size_t i = 0; i < 2; i++)
        hc_close_fd(&got[i]);
    hc_close_fd(&ends[0]);
}

static void descriptors_without_room_are_closed(void **state)
{
    int *pair = *state, ends[2], got[1];
    char text[8], byte;
    send_pipe_end(pair[0], ends);
    struct hc_packet p = {.fds = got, .room = 1};
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, 0), 3);
    assert_int_equal(p.count, 1);
    assert_true(p.cut);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* nobody can write into it any more */
    hc_close_fd(&got[0]);
    hc_close_fd(&ends[0]);
}

static void more_descriptors_than_a_packet_may_have_are_refused(void **state)
{
    int *pair = *state, fds[HC_PACKET_FDS + 1] = {0};
    char text[4];
    struct hc_packet p = {.fds = fds, .room = HC_PACKET_FDS + 1};
    assert_int_equal(hc_packet_send(pair[0], "12", 2, fds, HC_PACKET_FDS + 1, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EINVAL);
}

static void a_packet_that_is_too_long_is_told_from_one_that_fits(void **state)
{
    int *pair = *state;
    char text[4];
    struct hc_packet p = {0};
    assert_int_equal(hc_packet_send(pair[0], "12345", 5, NULL, 0, 0), 0);
    assert_int_equal(hc_packet_send(pair[0], "1234", 4, NULL, 0, 0), 0);
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, 0), 5);
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, 0), 4);
    assert_int_equal(p.sender, 0);
    hc_close_fd(&pair[0]);
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, 0), 0);
}

static void the_kernel_names_the_sender(void **state)
{
    int *pair = *state;
    const int on = 1;
    char text[4];
    struct hc_packet p = {0};
    assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    assert_int_equal(hc_packet_send(pair[0], "me", 2, NULL, 0, 0), 0);
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, MSG_DONTWAIT), 2);
    assert_int_equal(p.sender, getpid());
    assert_int_equal(hc_packet_receive(pair[1], text, sizeof text, &p, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(descriptors_come_with_their_bytes, make_pair, close_pair),
        cmocka_unit_test_setup_teardown(descriptors_without_room_are_closed, make_pair, close_pair),
        cmocka_unit_test_setup_teardown(more_descriptors_than_a_packet_may_have_are_refused, make_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(a_packet_that_is_too_long_is_told_from_one_that_fits, make_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(the_kernel_names_the_sender, make_pair, close_pair),
    };
    return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
