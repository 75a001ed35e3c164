/* hotcell-tls - carries one connection to a hotcelld behind a server that encrypts (HTTPS).
 *
 *   hotcell-tls HOST PORT
 *
 * client/http.c starts it, so that a command without https loads no library for it. Descriptor 0 is a stream
 * socket to the client, 1 a pipe that is told how the connection began: "+"; or "STATUS ERRNO TEXT", the exit
 * status that the client's error has, 0 or the number of the error, and what failed. Then this process is
 * over, and a copy of it carries bytes until one side has ended.
 *
 * The server must prove that it is HOST, by a certificate of an authority in the file $SSL_CERT_FILE, or,
 * without that variable, of one that this host trusts. */
#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Added to what this host asks of TLS, which may be less. */
#define NOT_BEFORE_TLS_1_2 "-VERS-SSL3.0:-VERS-TLS1.0:-VERS-TLS1.1"

#define CLIENT    STDIN_FILENO  /* socket to the client */
#define STATUS    STDOUT_FILENO /* pipe for how the connection began */
#define PATIENCE  30            /* seconds until a server that does not answer is given up */
#define READ_SIZE 16384         /* most bytes that are carried at once: one record of TLS */

/* ---- the beginning ---- */

static _Noreturn void fail(int status, int sys, const char *text, const char *more)
{
    size_t len = strlen(more);
    while (len && (more[len - 1] == ' ' || more[len - 1] == '.'))
        len--;
    (void)dprintf(STATUS, "%d %d %s%.*s", status, sys, text, (int)len, more);
    exit(status);
}

static _Noreturn void fail_tls(const char *text, int code)
{
    fail(HC_EXIT_UNAVAILABLE, 0, text, gnutls_strerror(code));
}

static int dial(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host, port, &hints, &found), fd = -1, sys = EADDRNOTAVAIL;
    if (rc != 0)
        fail(HC_EXIT_UNAVAILABLE, 0, gai_strerror(rc), "");
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
            sys = errno == EINPROGRESS ? ETIMEDOUT : errno;
            hc_close_fd(&fd);
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        fail(HC_EXIT_UNAVAILABLE, sys, "", "");
    return fd;
}

/* Read the certificates of the authorities that may vouch for the server. */
static gnutls_certificate_credentials_t authorities(void)
{
    const char *file = getenv("SSL_CERT_FILE");
    gnutls_certificate_credentials_t credentials;
    int rc = gnutls_certificate_allocate_credentials(&credentials);
    if (rc < 0)
        fail_tls("", rc);
    if (!file || !*file) {
        (void)gnutls_certificate_set_x509_system_trust(credentials);
        return credentials;
    }
    rc = gnutls_certificate_set_x509_trust_file(credentials, file, GNUTLS_X509_FMT_PEM);
    if (rc <= 0)
        fail(HC_EXIT_CONFIG, 0, "SSL_CERT_FILE: there is no certificate that can be read in ", file);
    return credentials;
}

/* Say why the server's certificate does not do. */
static _Noreturn void fail_certificate(gnutls_session_t session)
{
    gnutls_datum_t text = {0};
    const unsigned int status = gnutls_session_get_verify_cert_status(session);
    (void)gnutls_certificate_verification_status_print(status, gnutls_certificate_type_get(session), &text,
                                                       0);
    fail(HC_EXIT_CONFIG, 0, "SSL_CERT_FILE has to name who vouches for this server: ",
         text.data ? (const char *)text.data : "its certificate is not trusted");
}

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Greet the server on its socket, and check that it is `host`. */
static gnutls_session_t greet(int fd, const char *host)
{
    gnutls_session_t session;
    int rc = gnutls_init(&session, GNUTLS_CLIENT);
    if (rc < 0 || (rc = gnutls_set_default_priority_append(session, NOT_BEFORE_TLS_1_2, NULL, 0)) < 0 ||
        (rc = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, authorities())) < 0)
        fail_tls("", rc);
    if (!is_address(host))
        (void)gnutls_server_name_set(session, GNUTLS_NAME_DNS, host, strlen(host));
    gnutls_session_set_verify_cert(session, host, 0);
    gnutls_transport_set_int(session, fd);
    gnutls_handshake_set_timeout(session, PATIENCE * 1000);
    do
        rc = gnutls_handshake(session);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    if (rc == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
        fail_certificate(session);
    if (rc < 0)
        fail_tls("it does not speak TLS as it should: ", rc);
    return session;
}

/* ---- carrying ---- */

static bool send_record(gnutls_session_t session, const char *data, size_t len)
{
    while (len) {
        ssize_t n = gnutls_record_send(session, data, len);
        if (n < 0 && gnutls_error_is_fatal((int)n))
            return false;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* Carry the request. A server that reads no more of it may still say why: only the client's sending ends. */
static void *carry_request(void *data)
{
    char block[READ_SIZE];
    for (;;) {
        ssize_t n = TEMP_FAILURE_RETRY(read(CLIENT, block, sizeof block));
        if (n <= 0)
            _exit(HC_EXIT_OK); /* the client wants no more of the answer */
        if (!send_record(data, block, (size_t)n))
            break;
    }
    (void)shutdown(CLIENT, SHUT_RD);
    return NULL;
}

static bool send_client(const char *data, size_t len)
{
    while (len) {
        ssize_t n = TEMP_FAILURE_RETRY(send(CLIENT, data, len, MSG_NOSIGNAL));
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static void carry_answer(gnutls_session_t session)
{
    char block[READ_SIZE];
    for (;;) {
        ssize_t n = gnutls_record_recv(session, block, sizeof block);
        if (n == 0 || (n < 0 && gnutls_error_is_fatal((int)n)))
            return;
        if (n > 0 && !send_client(block, (size_t)n))
            return;
    }
}

/* Ctrl-C is for the client: it cancels its job over another connection, and reads the end of it over this
 * one. */
static void ignore_terminal(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void)signal(signals[i], SIG_IGN);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const int status = hc_program_begin();
    if (status != HC_EXIT_OK)
        return status;
    if (argc != 3) {
        (void)fputs("hotcell-tls: is what hotcell starts for https://\n", stderr);
        return HC_EXIT_USAGE;
    }
    ignore_terminal();
    gnutls_session_t session = greet(dial(argv[1], argv[2]), argv[1]);
    pid_t pid = fork();
    if (pid < 0)
        fail(HC_EXIT_UNAVAILABLE, errno, "", "");
    if (pid > 0) {
        (void)dprintf(STATUS, "+");
        _exit(HC_EXIT_OK);
    }
    (void)close(STATUS);
    if (pthread_create(&thread, NULL, carry_request, session) == 0)
        carry_answer(session);
    return HC_EXIT_OK;
}
