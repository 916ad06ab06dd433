#pragma once

// Deliberate faults of the file system: counts the system calls on some files, and injects a fault at a given one.
// faulty_io.c replaces these calls, linked into a test or preloaded into a program.

#ifdef __cplusplus
extern "C" {
#endif

// Kinds of calls, a bit mask.
enum {
  FAULTY_IO_READ = 1,
  FAULTY_IO_WRITE = 2,
  FAULTY_IO_ALLOCATE = 4,  // fallocate and posix_fallocate
  FAULTY_IO_SYNC = 8,
  FAULTY_IO_RENAME = 16,
  FAULTY_IO_OPEN = 32,
  FAULTY_IO_CLOSE = 64,
};

struct FaultyIo {
  int calls;           // the counted kinds
  char file[256];      // part of the name of counted files
  long at;             // 1: the first call; 0: never, only count
  long end;            // the first call that works again
  int error;           // errno of these calls, which do nothing; 0: they work
  void (*act)(void*);  // called before the first of them
  void* argument;
};

// Begin to count from 0. Not thread-safe.
void faulty_io_begin(const struct FaultyIo* plan);
// Return the number of calls since then, and end the faults.
long faulty_io_end(void);

#ifdef __cplusplus
}
#endif
