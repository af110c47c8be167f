// Linux calls for VaultFileSystem. Each repeats itself after EINTR and gives -errno on failure, so that
// Swift neither reads `errno` nor loops. Also here: what Glibc's module doesn't export (renameat2,
// fallocate, syncfs, prctl, and macros).
#ifndef CVAULTSYSTEM_SHIM_H
#define CVAULTSYSTEM_SHIM_H

// Without _GNU_SOURCE: with it the C library's headers declare other fields than they do in the modules of
// other packages, which one program can't hold together. What only it would declare is called by number.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH 010000000
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 0x1U
#define MFD_ALLOW_SEALING 0x2U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x8U
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 0x1
#define F_SEAL_SHRINK 0x2
#define F_SEAL_GROW 0x4
#define F_SEAL_WRITE 0x8
#endif

#define VAULT_RETRY(type, call)                    \
    type result;                                   \
    do {                                           \
        result = (call);                           \
    } while (result == -1 && errno == EINTR);      \
    return result == -1 ? -(type)errno : result

static const int VAULT_READ = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
static const int VAULT_UPDATE = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
static const int VAULT_APPEND = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
static const int VAULT_CREATE = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW;
static const int VAULT_FOLDER = O_RDONLY | O_CLOEXEC | O_DIRECTORY;
static const int VAULT_TERMINAL = O_RDWR | O_CLOEXEC | O_NOCTTY;
static const int VAULT_PATH_ONLY = O_PATH | O_CLOEXEC | O_DIRECTORY;
static const int VAULT_NO_FOLLOW = O_NOFOLLOW;
static const int VAULT_WORKING_FOLDER = AT_FDCWD;

// Opening and closing.

static inline int vault_open(int folder, const char *path, int flags, mode_t mode) {
    VAULT_RETRY(int, openat(folder, path, flags, mode));
}

static inline int vault_duplicate(int file) {
    VAULT_RETRY(int, fcntl(file, F_DUPFD_CLOEXEC, 3));
}

// On Linux the descriptor is gone even after EINTR: never repeated.
static inline void vault_close(int file) {
    close(file);
}

// Bytes.

static inline ssize_t vault_pread(int file, void *buffer, size_t count, int64_t offset) {
    VAULT_RETRY(ssize_t, pread(file, buffer, count, offset));
}

static inline ssize_t vault_pwrite(int file, const void *buffer, size_t count, int64_t offset) {
    VAULT_RETRY(ssize_t, pwrite(file, buffer, count, offset));
}

static inline int vault_wait(int file, short events) {
    struct pollfd waiting = {.fd = file, .events = events, .revents = 0};
    VAULT_RETRY(int, poll(&waiting, 1, -1));
}

// Waits where the descriptor was made non-blocking by somebody else, as standard input often is.
static inline ssize_t vault_read(int file, void *buffer, size_t count) {
    for (;;) {
        ssize_t result = read(file, buffer, count);
        if (result >= 0) return result;
        if (errno == EAGAIN) {
            int waited = vault_wait(file, POLLIN);
            if (waited < 0) return waited;
        } else if (errno != EINTR) {
            return -(ssize_t)errno;
        }
    }
}

static inline ssize_t vault_write(int file, const void *buffer, size_t count) {
    for (;;) {
        ssize_t result = write(file, buffer, count);
        if (result >= 0) return result;
        if (errno == EAGAIN) {
            int waited = vault_wait(file, POLLOUT);
            if (waited < 0) return waited;
        } else if (errno != EINTR) {
            return -(ssize_t)errno;
        }
    }
}

// Sizes and durability.

static inline int vault_allocate(int file, int64_t count) {
    VAULT_RETRY(int, (int)syscall(SYS_fallocate, file, 0, (int64_t)0, count));
}

// FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE.
static inline int vault_punch_hole(int file, int64_t offset, int64_t count) {
    const int punch_hole = 2, keep_size = 1;
    VAULT_RETRY(int, (int)syscall(SYS_fallocate, file, punch_hole | keep_size, offset, count));
}

static inline int vault_truncate(int file, int64_t count) {
    VAULT_RETRY(int, ftruncate(file, count));
}

// The next byte of data (3) or of a hole (4) from an offset on: SEEK_DATA and SEEK_HOLE.
static inline int64_t vault_seek_data(int file, int64_t offset) {
    VAULT_RETRY(int64_t, lseek(file, offset, 3));
}

static inline int64_t vault_seek_hole(int file, int64_t offset) {
    VAULT_RETRY(int64_t, lseek(file, offset, 4));
}

// Only starts to write: nothing is promised, so nothing is reported.
static inline void vault_begin_writing_back(int file, int64_t offset, int64_t count) {
    const unsigned int begin_to_write = 2; // SYNC_FILE_RANGE_WRITE
    (void)syscall(SYS_sync_file_range, file, offset, count, begin_to_write);
}

static inline int vault_fsync(int file) {
    VAULT_RETRY(int, fsync(file));
}

static inline int vault_syncfs(int file) {
    VAULT_RETRY(int, (int)syscall(SYS_syncfs, file));
}

// Files in memory, which no name leads to.

static inline int vault_memory(const char *name) {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    // Systems may insist that nobody runs it as a program; older ones (before Linux 6.3) don't know the word.
    int made = (int)syscall(SYS_memfd_create, name, flags | MFD_NOEXEC_SEAL);
    if (made == -1 && errno == EINVAL) made = (int)syscall(SYS_memfd_create, name, flags);
    return made == -1 ? -errno : made;
}

// For good: neither its bytes nor its length change any more.
static inline int vault_seal(int file) {
    VAULT_RETRY(int, fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
}

// Status.

static inline int vault_fstat(int file, struct stat *status) {
    VAULT_RETRY(int, fstat(file, status));
}

static inline int vault_stat(int folder, const char *path, int follow, struct stat *status) {
    VAULT_RETRY(int, fstatat(folder, path, status, follow ? 0 : AT_SYMLINK_NOFOLLOW));
}

// Sets the time of the last change of an entry, of a link's own; without seconds it becomes now. A hint, too.
static inline void vault_set_modified(int folder, const char *name, const int64_t *seconds) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    if (seconds != NULL) times[1] = (struct timespec){*seconds, 0};
    (void)utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW);
}

// The time of the last change becomes now. A hint, so nothing is reported.
static inline void vault_touch(int file) {
    (void)futimens(file, NULL);
}

static inline int vault_fchmod(int file, mode_t mode) {
    VAULT_RETRY(int, fchmod(file, mode));
}

// Never through a symbolic link (EOPNOTSUPP then).
static inline int vault_chmod(int folder, const char *name, mode_t mode) {
    VAULT_RETRY(int, fchmodat(folder, name, mode, AT_SYMLINK_NOFOLLOW));
}

static inline int vault_statvfs(const char *path, struct statvfs *status) {
    VAULT_RETRY(int, statvfs(path, status));
}

// Names.

static inline int vault_mkdir(int folder, const char *path, mode_t mode) {
    VAULT_RETRY(int, mkdirat(folder, path, mode));
}

static inline int vault_unlink(int folder, const char *path) {
    VAULT_RETRY(int, unlinkat(folder, path, 0));
}

static inline int vault_rmdir(int folder, const char *path) {
    VAULT_RETRY(int, unlinkat(folder, path, AT_REMOVEDIR));
}

static inline int vault_link(int fromFolder, const char *from, int toFolder, const char *to) {
    VAULT_RETRY(int, linkat(fromFolder, from, toFolder, to, 0));
}

static inline int vault_symlink(const char *target, int folder, const char *path) {
    VAULT_RETRY(int, symlinkat(target, folder, path));
}

static inline ssize_t vault_readlink(int folder, const char *path, char *buffer, size_t count) {
    VAULT_RETRY(ssize_t, readlinkat(folder, path, buffer, count));
}

static inline int vault_rename(int fromFolder, const char *from, int toFolder, const char *to) {
    VAULT_RETRY(int, renameat(fromFolder, from, toFolder, to));
}

// Two entries take each other's name: RENAME_EXCHANGE.
static inline int vault_exchange(int folder, const char *first, const char *second) {
    VAULT_RETRY(int, (int)syscall(SYS_renameat2, folder, first, folder, second, 1 << 1));
}

static inline int vault_rename_new(int fromFolder, const char *from, int toFolder, const char *to) {
    VAULT_RETRY(int, (int)syscall(SYS_renameat2, fromFolder, from, toFolder, to, RENAME_NOREPLACE));
}

// A folder's names: the stream owns `file` once it was made.
static inline DIR *vault_names(int file) {
    return fdopendir(file);
}

// The next name, or null at the end and after a failure, which stands in `*failure`.
static inline const char *vault_next_name(DIR *names, int *failure) {
    errno = 0;
    struct dirent *entry = readdir(names);
    *failure = entry ? 0 : errno;
    return entry ? entry->d_name : NULL;
}

// Files that any process opens, as events in a queue that is read without waiting.

struct vault_opening {
    int folder;
    int is_overflow;
    // Null for a folder, and where events were dropped.
    const char *_Nullable name;
};

static inline int vault_watch(void) {
    VAULT_RETRY(int, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
}

static inline int vault_watch_folder(int queue, const char *path) {
    VAULT_RETRY(int, inotify_add_watch(queue, path, IN_OPEN | IN_ONLYDIR | IN_DONT_FOLLOW));
}

static inline ssize_t vault_read_events(int queue, void *_Nullable buffer, size_t count) {
    VAULT_RETRY(ssize_t, read(queue, buffer, count));
}

// The event at an offset of what was read, and the offset of the next one; 0 at the end.
static inline int vault_next_opening(
    const void *_Nullable buffer, long length, long *_Nonnull offset, struct vault_opening *_Nonnull found) {
    struct inotify_event event;
    if (buffer == NULL || length - *offset < (long)sizeof event) return 0;
    const char *start = (const char *)buffer + *offset;
    memcpy(&event, start, sizeof event);
    found->folder = event.wd;
    found->is_overflow = (event.mask & IN_Q_OVERFLOW) != 0;
    found->name = event.len > 0 && (event.mask & IN_OPEN) && !(event.mask & IN_ISDIR) ? start + sizeof event : NULL;
    *offset += (long)(sizeof event + event.len);
    return 1;
}

// Locks: 0, or -EWOULDBLOCK when somebody else holds it.

// Leaves a descriptor open to the program that this process becomes.
static inline int vault_keep_on_exec(int file) {
    VAULT_RETRY(int, fcntl(file, F_SETFD, 0));
}

// Closes a descriptor when this process becomes another program.
static inline int vault_close_on_exec(int file) {
    VAULT_RETRY(int, fcntl(file, F_SETFD, FD_CLOEXEC));
}

// Makes the descriptor `number` another one of an open file; it stays open across exec.
static inline int vault_replace(int file, int number) {
    VAULT_RETRY(int, dup2(file, number));
}

// Becomes another program; returns a negated errno. Signals are handled as they are by default, and none is blocked.
static inline int vault_execute(const char *_Nonnull program, char *_Nullable const *_Nonnull arguments) {
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(program, arguments);
    return -errno;
}

// Starts a program as a child, with the descriptors that stay open across exec. SIGPIPE has its default action in it, and no signal is
// blocked. Gives its number, or a negated errno.
static inline int vault_spawn(const char *_Nonnull program, char *_Nullable const *_Nonnull arguments) {
    extern char **environ;
    posix_spawnattr_t attributes;
    sigset_t none, changed;
    pid_t child = 0;
    // A parent that ignores this signal passes that on, and the exit code would be lost.
    signal(SIGCHLD, SIG_DFL);
    int code = posix_spawnattr_init(&attributes);
    if (code != 0) return -code;
    sigemptyset(&none);
    sigemptyset(&changed);
    sigaddset(&changed, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &changed);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    code = posix_spawnp(&child, program, NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return code == 0 ? child : -code;
}

// The exit code of a child, 128 and the number of the signal that ended it, or a negated errno: -EAGAIN while it runs.
static inline int vault_exit_code(int child) {
    int status;
    pid_t ended;
    do {
        ended = waitpid(child, &status, WNOHANG);
    } while (ended == -1 && errno == EINTR);
    if (ended == -1) return -errno;
    if (ended == 0) return -EAGAIN;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline int vault_try_lock(int file, int exclusive) {
    VAULT_RETRY(int, flock(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB));
}

static inline void vault_unlock(int file) {
    flock(file, LOCK_UN);
}

// The process.

static inline int vault_random(void *buffer, size_t count) {
    ssize_t result;
    do {
        result = getrandom(buffer, count, 0);
    } while (result == -1 && errno == EINTR);
    if (result == -1) return -errno;
    return (size_t)result == count ? 0 : -EIO;
}

static inline int vault_undumpable(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno;
}

static inline int vault_no_core(void) {
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    return setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : -errno;
}

// What the process withholds from the permissions of what it makes, as the system states it; -1 where it can't be read.
static inline int vault_umask(void) {
    FILE *status = fopen("/proc/self/status", "re");
    if (!status) return -1;
    char line[256];
    unsigned int mask;
    int found = -1;
    while (found < 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "Umask: %o", &mask) == 1) found = (int)(mask & 0777);
    fclose(status);
    return found;
}

static inline void vault_use_one_arena(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

// The terminal, while a secret is typed: its settings before that, which are restored by vault_show_echo, or when a signal ends the process.
// Weak, so that there is one of each: the file that asks is another one than that which handles signals.

__attribute__((weak)) volatile sig_atomic_t vault_quiet_terminal = -1;
__attribute__((weak)) struct termios vault_terminal_settings = {0};

// Typed characters are not shown, and Ctrl-Z does not leave the terminal in this state.
static inline int vault_hide_echo(int file) {
    struct termios quiet;
    if (tcgetattr(file, &quiet) == -1) return -errno;
    vault_terminal_settings = quiet;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    quiet.c_cc[VSUSP] = _POSIX_VDISABLE;
    vault_quiet_terminal = file;
    if (tcsetattr(file, TCSAFLUSH, &quiet) == 0) return 0;
    int failure = -errno;
    vault_quiet_terminal = -1;
    return failure;
}

// Async-signal-safe.
static inline void vault_show_echo(void) {
    int file = vault_quiet_terminal;
    vault_quiet_terminal = -1;
    if (file >= 0) (void)tcsetattr(file, TCSANOW, &vault_terminal_settings);
}

// Termination signals: the handler only restores the terminal, and writes the signal's number into a pipe.

static int vault_signal_pipe = -1;

static void vault_on_signal(int number) {
    int saved = errno;
    vault_show_echo();
    unsigned char byte = (unsigned char)number;
    ssize_t ignored = write(vault_signal_pipe, &byte, 1);
    (void)ignored;
    errno = saved;
}

// Gives the end to read from. A signal that is ignored stays ignored (`nohup`); a new program started
// by exec gets the default actions back. Call once.
static inline int vault_catch_signals(const int *numbers, int count) {
    int ends[2];
    if ((int)syscall(SYS_pipe2, ends, O_CLOEXEC) == -1) return -errno;
    vault_signal_pipe = ends[1];
    for (int i = 0; i < count; i++) {
        struct sigaction old, action = {.sa_handler = vault_on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == -1) return -errno;
        if (old.sa_handler == SIG_IGN) continue;
        if (sigaction(numbers[i], &action, NULL) == -1) return -errno;
    }
    return ends[0];
}

// Seconds since 1970-01-01T00:00:00Z.
static inline int64_t vault_now(void) {
    return (int64_t)time(NULL);
}

static inline void vault_exit(int status) {
    _exit(status);
}

#endif
