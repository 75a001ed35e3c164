#include "shim/guard/events.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct event {
    const char *name; /* name of the event, as CPython raises it */
    enum hc_event_kind kind;
};

/* The events in the interpreter's documentation, and those that only its sources have, without events of
 * other operating systems. */
static const struct event events[] = {
    {"_thread.start_joinable_thread", HC_EVENT_THREAD},
    {"_thread.start_new_thread", HC_EVENT_THREAD},
    {"array.__new__", HC_EVENT_FREE},
    {"builtins.breakpoint", HC_EVENT_FREE},
    {"builtins.id", HC_EVENT_FREE},
    {"builtins.input", HC_EVENT_FREE},
    {"builtins.input/result", HC_EVENT_FREE},
    {"code.__new__", HC_EVENT_CODE},
    {"compile", HC_EVENT_COMPILE},
    {"cpython.PyInterpreterState_Clear", HC_EVENT_REFUSED},
    {"cpython.PyInterpreterState_New", HC_EVENT_REFUSED},
    {"cpython._PySys_ClearAuditHooks", HC_EVENT_REFUSED},
    {"cpython.run_command", HC_EVENT_FREE},
    {"cpython.run_file", HC_EVENT_FREE},
    {"cpython.run_interactivehook", HC_EVENT_FREE},
    {"cpython.run_module", HC_EVENT_FREE},
    {"cpython.run_startup", HC_EVENT_FREE},
    {"cpython.run_stdin", HC_EVENT_FREE},
    {"ctypes.PyObj_FromPtr", HC_EVENT_FOREIGN},
    {"ctypes.addressof", HC_EVENT_FOREIGN},
    {"ctypes.call_function", HC_EVENT_FOREIGN},
    {"ctypes.cdata", HC_EVENT_FOREIGN},
    {"ctypes.cdata/buffer", HC_EVENT_FOREIGN},
    {"ctypes.create_string_buffer", HC_EVENT_FOREIGN},
    {"ctypes.create_unicode_buffer", HC_EVENT_FOREIGN},
    {"ctypes.dlopen", HC_EVENT_FOREIGN},
    {"ctypes.dlsym", HC_EVENT_FOREIGN},
    {"ctypes.dlsym/handle", HC_EVENT_FOREIGN},
    {"ctypes.get_errno", HC_EVENT_FOREIGN},
    {"ctypes.set_errno", HC_EVENT_FOREIGN},
    {"ctypes.set_exception", HC_EVENT_FOREIGN},
    {"ctypes.string_at", HC_EVENT_FOREIGN},
    {"ctypes.wstring_at", HC_EVENT_FOREIGN},
    {"ensurepip.bootstrap", HC_EVENT_REFUSED},
    {"exec", HC_EVENT_FREE},
    {"fcntl.fcntl", HC_EVENT_FREE},
    {"fcntl.flock", HC_EVENT_FREE},
    {"fcntl.ioctl", HC_EVENT_FREE},
    {"fcntl.lockf", HC_EVENT_FREE},
    {"ftplib.connect", HC_EVENT_NETWORK},
    {"ftplib.sendcmd", HC_EVENT_NETWORK},
    {"function.__new__", HC_EVENT_FREE},
    {"gc.get_objects", HC_EVENT_GUEST},
    {"gc.get_referents", HC_EVENT_GUEST},
    {"gc.get_referrers", HC_EVENT_GUEST},
    {"glob.glob", HC_EVENT_FREE},
    {"glob.glob/2", HC_EVENT_FREE},
    {"hotcell.call", HC_EVENT_CALL},
    {"http.client.connect", HC_EVENT_NETWORK},
    {"http.client.send", HC_EVENT_NETWORK},
    {"imaplib.open", HC_EVENT_NETWORK},
    {"imaplib.send", HC_EVENT_NETWORK},
    {"import", HC_EVENT_IMPORT},
    {"marshal.dumps", HC_EVENT_FREE},
    {"marshal.load", HC_EVENT_LOAD_CODE},
    {"marshal.loads", HC_EVENT_LOAD_CODE},
    {"mmap.__new__", HC_EVENT_FREE},
    {"nntplib.connect", HC_EVENT_NETWORK},
    {"nntplib.putline", HC_EVENT_NETWORK},
    {"object.__delattr__", HC_EVENT_ATTRIBUTE},
    {"object.__getattr__", HC_EVENT_ATTRIBUTE},
    {"object.__setattr__", HC_EVENT_ATTRIBUTE},
    {"open", HC_EVENT_OPEN},
    {"os.chdir", HC_EVENT_CHDIR},
    {"os.chflags", HC_EVENT_WRITES},
    {"os.chmod", HC_EVENT_WRITES_AT},
    {"os.chown", HC_EVENT_WRITES_AT},
    {"os.exec", HC_EVENT_PROCESS},
    {"os.fork", HC_EVENT_PROCESS},
    {"os.forkpty", HC_EVENT_PROCESS},
    {"os.fwalk", HC_EVENT_FREE},
    {"os.getxattr", HC_EVENT_FREE},
    {"os.kill", HC_EVENT_PROCESS},
    {"os.killpg", HC_EVENT_PROCESS},
    {"os.link", HC_EVENT_BOTH},
    {"os.listdir", HC_EVENT_FREE},
    {"os.listxattr", HC_EVENT_FREE},
    {"os.lockf", HC_EVENT_FREE},
    {"os.mkdir", HC_EVENT_NAMES},
    {"os.posix_spawn", HC_EVENT_PROCESS},
    {"os.putenv", HC_EVENT_ENV},
    {"os.remove", HC_EVENT_NAMES},
    {"os.removexattr", HC_EVENT_WRITES},
    {"os.rename", HC_EVENT_BOTH},
    {"os.rmdir", HC_EVENT_NAMES},
    {"os.scandir", HC_EVENT_FREE},
    {"os.setxattr", HC_EVENT_WRITES},
    {"os.spawn", HC_EVENT_PROCESS},
    {"os.symlink", HC_EVENT_LINK},
    {"os.system", HC_EVENT_PROCESS},
    {"os.truncate", HC_EVENT_WRITES},
    {"os.unsetenv", HC_EVENT_ENV},
    {"os.utime", HC_EVENT_WRITES_AT},
    {"os.walk", HC_EVENT_FREE},
    {"pathlib.Path.glob", HC_EVENT_FREE},
    {"pathlib.Path.rglob", HC_EVENT_FREE},
    {"pdb.Pdb", HC_EVENT_FREE},
    {"pickle.find_class", HC_EVENT_PICKLE},
    {"poplib.connect", HC_EVENT_NETWORK},
    {"poplib.putline", HC_EVENT_NETWORK},
    {"pty.spawn", HC_EVENT_PROCESS},
    {"resource.prlimit", HC_EVENT_PROCESS},
    {"resource.setrlimit", HC_EVENT_FREE},
    {"setopencodehook", HC_EVENT_REFUSED},
    {"shutil.chown", HC_EVENT_WRITES},
    {"shutil.copyfile", HC_EVENT_TO},
    {"shutil.copymode", HC_EVENT_TO},
    {"shutil.copystat", HC_EVENT_TO},
    {"shutil.copytree", HC_EVENT_TO},
    {"shutil.make_archive", HC_EVENT_WRITES},
    {"shutil.move", HC_EVENT_BOTH},
    {"shutil.rmtree", HC_EVENT_NAMES},
    {"shutil.unpack_archive", HC_EVENT_TO},
    {"signal.pthread_kill", HC_EVENT_PROCESS},
    {"smtplib.connect", HC_EVENT_NETWORK},
    {"smtplib.send", HC_EVENT_NETWORK},
    {"socket.__new__", HC_EVENT_SOCKET},
    {"socket.bind", HC_EVENT_NETWORK},
    {"socket.connect", HC_EVENT_NETWORK},
    {"socket.getaddrinfo", HC_EVENT_NETWORK},
    {"socket.gethostbyaddr", HC_EVENT_NETWORK},
    {"socket.gethostbyname", HC_EVENT_NETWORK},
    {"socket.gethostname", HC_EVENT_FREE},
    {"socket.getnameinfo", HC_EVENT_NETWORK},
    {"socket.getservbyname", HC_EVENT_FREE},
    {"socket.getservbyport", HC_EVENT_FREE},
    {"socket.sendmsg", HC_EVENT_NETWORK},
    {"socket.sendto", HC_EVENT_NETWORK},
    {"socket.sethostname", HC_EVENT_REFUSED},
    {"sqlite3.connect", HC_EVENT_DATABASE},
    {"sqlite3.connect/handle", HC_EVENT_FREE},
    {"sqlite3.enable_load_extension", HC_EVENT_REFUSED},
    {"sqlite3.load_extension", HC_EVENT_REFUSED},
    {"subprocess.Popen", HC_EVENT_PROCESS},
    {"sys._current_exceptions", HC_EVENT_GUEST},
    {"sys._current_frames", HC_EVENT_GUEST},
    {"sys._getframe", HC_EVENT_GUEST},
    {"sys._getframemodulename", HC_EVENT_GUEST},
    {"sys.addaudithook", HC_EVENT_REFUSED},
    {"sys.excepthook", HC_EVENT_FREE},
    {"sys.set_asyncgen_hook_finalizer", HC_EVENT_FREE},
    {"sys.set_asyncgen_hook_firstiter", HC_EVENT_FREE},
    {"sys.set_asyncgen_hooks_finalizer", HC_EVENT_FREE},
    {"sys.set_asyncgen_hooks_firstiter", HC_EVENT_FREE},
    {"sys.setprofile", HC_EVENT_TRACE},
    {"sys.settrace", HC_EVENT_TRACE},
    {"sys.unraisablehook", HC_EVENT_FREE},
    {"syslog.closelog", HC_EVENT_FREE},
    {"syslog.openlog", HC_EVENT_REFUSED},
    {"syslog.setlogmask", HC_EVENT_FREE},
    {"syslog.syslog", HC_EVENT_REFUSED},
    {"telnetlib.Telnet.open", HC_EVENT_NETWORK},
    {"telnetlib.Telnet.write", HC_EVENT_NETWORK},
    {"tempfile.mkdtemp", HC_EVENT_WRITES},
    {"tempfile.mkstemp", HC_EVENT_WRITES},
    {"time.sleep", HC_EVENT_FREE},
    {"urllib.Request", HC_EVENT_NETWORK},
    {"webbrowser.open", HC_EVENT_PROCESS},
};
#define EVENTS (sizeof events / sizeof *events)

/* Open addressing, by an FNV-1a hash of the name. */
#define SLOTS 512 /* a power of two, and several times the number of events */
static const struct event *slots[SLOTS];

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h ^ h >> 15;
}

void hc_events_prepare(void)
{
    for (size_t i = 0; i < EVENTS; i++) {
        size_t at = hash(events[i].name) % SLOTS;
        while (slots[at] && slots[at] != &events[i])
            at = (at + 1) % SLOTS;
        slots[at] = &events[i];
    }
}

enum hc_event_kind hc_event_kind(const char *event)
{
    for (size_t at = hash(event) % SLOTS; slots[at]; at = (at + 1) % SLOTS)
        if (strcmp(slots[at]->name, event) == 0)
            return slots[at]->kind;
    return HC_EVENT_REFUSED;
}
