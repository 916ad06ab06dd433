#define _GNU_SOURCE
#include "tests/support/faulty_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static struct FaultyIo plan;
static long n_calls;
static int is_inside;  // calls of a fault itself are not counted

void faulty_io_begin(const struct FaultyIo* wanted) {
  plan = *wanted;
  n_calls = 0;
}

long faulty_io_end(void) {
  plan.calls = 0;
  return n_calls;
}

// Like `ulimit -f`, but set when this program's own file is opened: the shared memory of MPI also consists of files.
static void limit_file_sizes(void* bytes) {
  const rlim_t n = *(const rlim_t*)bytes;
  const struct rlimit limit = {n, n};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// In a program that preloads this library, the environment sets the plan, on one rank or on all.
__attribute__((constructor)) static void begin_by_environment(void) {
  const char* calls = getenv("FAULTY_IO_CALLS");
  if (calls == NULL) return;
  const char* wanted = getenv("FAULTY_IO_RANK");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  if (rank == NULL) rank = "0";
  if (wanted != NULL && strcmp(wanted, rank) != 0) return;
  const char* file = getenv("FAULTY_IO_FILE");
  const char* at = getenv("FAULTY_IO_AT");
  const char* end = getenv("FAULTY_IO_END");
  const char* error = getenv("FAULTY_IO_ERROR");
  plan.calls = atoi(calls);
  snprintf(plan.file, sizeof plan.file, "%s", file != NULL ? file : "");
  plan.at = at != NULL ? atol(at) : 0;
  plan.end = end != NULL ? atol(end) : LONG_MAX;
  plan.error = error != NULL ? atoi(error) : EIO;
  const char* limit = getenv("FAULTY_IO_LIMIT");
  if (limit == NULL) return;
  static rlim_t bytes;
  bytes = strtoul(limit, NULL, 10);
  plan.error = 0;
  plan.act = limit_file_sizes;
  plan.argument = &bytes;
}

// Write this rank's count, for tests that need the number of the last call.
__attribute__((destructor)) static void tell(void) {
  const char* folder = getenv("FAULTY_IO_TELL");
  if (folder == NULL || plan.calls == 0) return;
  is_inside = 1;
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s/%d", folder, (int)getpid());
  FILE* file = fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", n_calls);
  fclose(file);
}

// Tell whether this call must fail.
static int fails(int kind, const char* name) {
  if ((plan.calls & kind) == 0 || is_inside || strstr(name, plan.file) == NULL) return 0;
  n_calls += 1;
  if (plan.at == 0 || n_calls < plan.at || n_calls >= plan.end) return 0;
  if (n_calls == plan.at && plan.act != NULL) {
    is_inside = 1;
    plan.act(plan.argument);
    is_inside = 0;
  }
  errno = plan.error;
  return plan.error != 0;
}

static int file_fails(int kind, int file) {
  if ((plan.calls & kind) == 0 || is_inside) return 0;
  char link[64];
  char name[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n < 0) return 0;
  name[n] = '\0';
  return fails(kind, name);
}

// Define a call whose first argument is a file and which returns -1 on failure.
#define ON_FILE(kind, result, name, parameters, ...)            \
  result name parameters {                                      \
    static result(*next) parameters;                            \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    return file_fails(kind, file) ? -1 : next(__VA_ARGS__);     \
  }

ON_FILE(FAULTY_IO_READ, ssize_t, read, (int file, void* to, size_t n), file, to, n)
ON_FILE(FAULTY_IO_READ, ssize_t, pread, (int file, void* to, size_t n, off_t at), file, to, n, at)
ON_FILE(FAULTY_IO_READ, ssize_t, pread64, (int file, void* to, size_t n, off_t at), file, to, n, at)
ON_FILE(FAULTY_IO_READ, ssize_t, readv, (int file, const struct iovec* to, int n), file, to, n)
ON_FILE(FAULTY_IO_READ, ssize_t, preadv, (int file, const struct iovec* to, int n, off_t at), file, to, n, at)
ON_FILE(FAULTY_IO_READ, ssize_t, preadv64, (int file, const struct iovec* to, int n, off_t at), file, to, n, at)
ON_FILE(FAULTY_IO_WRITE, ssize_t, write, (int file, const void* from, size_t n), file, from, n)
ON_FILE(FAULTY_IO_WRITE, ssize_t, pwrite, (int file, const void* from, size_t n, off_t at), file, from, n, at)
ON_FILE(FAULTY_IO_WRITE, ssize_t, pwrite64, (int file, const void* from, size_t n, off_t at), file, from, n, at)
ON_FILE(FAULTY_IO_WRITE, ssize_t, writev, (int file, const struct iovec* from, int n), file, from, n)
ON_FILE(FAULTY_IO_WRITE, ssize_t, pwritev, (int file, const struct iovec* from, int n, off_t at), file, from, n, at)
ON_FILE(FAULTY_IO_WRITE, ssize_t, pwritev64, (int file, const struct iovec* from, int n, off_t at), file, from, n, at)
ON_FILE(FAULTY_IO_WRITE, int, ftruncate, (int file, off_t n), file, n)
ON_FILE(FAULTY_IO_WRITE, int, ftruncate64, (int file, off_t n), file, n)
ON_FILE(FAULTY_IO_ALLOCATE, int, fallocate, (int file, int mode, off_t at, off_t n), file, mode, at, n)
ON_FILE(FAULTY_IO_ALLOCATE, int, fallocate64, (int file, int mode, off_t at, off_t n), file, mode, at, n)
ON_FILE(FAULTY_IO_SYNC, int, fsync, (int file), file)
ON_FILE(FAULTY_IO_SYNC, int, fdatasync, (int file), file)

// A failing close closes nevertheless.
int close(int file) {
  static int (*next)(int);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "close");
  const int is_bad = file_fails(FAULTY_IO_CLOSE, file);
  const int error = errno;
  const int result = next(file);
  if (!is_bad) return result;
  errno = error;
  return -1;
}

int posix_fallocate(int file, off_t at, off_t n) {
  static int (*next)(int, off_t, off_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "posix_fallocate");
  return file_fails(FAULTY_IO_ALLOCATE, file) ? errno : next(file, at, n);
}

int posix_fallocate64(int file, off_t at, off_t n) { return posix_fallocate(file, at, n); }

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "rename");
  return fails(FAULTY_IO_RENAME, to) ? -1 : next(from, to);
}

#define OPENS(name)                                                        \
  int name(const char* path, int flags, ...) {                             \
    static int (*next)(const char*, int, ...);                             \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name);            \
    va_list more;                                                          \
    va_start(more, flags);                                                 \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                          \
    return fails(FAULTY_IO_OPEN, path) ? -1 : next(path, flags, mode);     \
  }
OPENS(open)
OPENS(open64)

// The C library fills the buffers of stdio by internal calls, which cannot be replaced.
FILE* fopen(const char* path, const char* mode) {
  static FILE* (*next)(const char*, const char*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "fopen");
  return fails(FAULTY_IO_OPEN, path) ? NULL : next(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static FILE* (*next)(const char*, const char*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "fopen64");
  return fails(FAULTY_IO_OPEN, path) ? NULL : next(path, mode);
}

size_t fread(void* to, size_t size, size_t n, FILE* file) {
  static size_t (*next)(void*, size_t, size_t, FILE*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "fread");
  return file_fails(FAULTY_IO_READ, fileno(file)) ? 0 : next(to, size, n, file);
}

// getc_unlocked calls it for an empty buffer.
int __uflow(FILE* file) {
  static int (*next)(FILE*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "__uflow");
  return file_fails(FAULTY_IO_READ, fileno(file)) ? EOF : next(file);
}
