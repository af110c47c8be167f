// Preloaded into a program, it forgets to save something: FORGET_CALL (fsync or syncfs) is left out where the path
// matches FORGET_PATH, the FORGET_NUMBERth time or, for 0, each time. The path is noted in the file FORGET_LOG.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int met;

static int forgets(const char *call, int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0 || strcmp(call, getenv("FORGET_CALL")) != 0) return 0;
    path[count] = 0;
    if (fnmatch(getenv("FORGET_PATH"), path, 0) != 0) return 0;
    int number = atoi(getenv("FORGET_NUMBER"));
    if (++met != number && number != 0) return 0;
    int log = open(getenv("FORGET_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log >= 0) dprintf(log, "%s\n", path);
    close(log);
    return 1;
}

// The program calls fsync by its name and syncfs by its number.
int fsync(int file) { return forgets("fsync", file) ? 0 : (int)syscall(SYS_fsync, file); }

long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long words[6];
    for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_syncfs && forgets("syncfs", (int)words[0])) return 0;
    return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
