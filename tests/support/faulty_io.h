#pragma once

// Faults of the file system, made on purpose: the system's calls on some files are counted, and at a given one of them
// something happens. faulty_io.c takes the place of these calls, linked into a test or loaded before a program.

#ifdef __cplusplus
extern "C" {
#endif

// Kinds of calls, to be added.
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
  int calls;              // the kinds that count
  char file[256];         // part of the name of the files that count
  long at;                // 1: the first call; 0: never, only count
  long end;               // the first call that is well again
  int error;              // errno of these calls, which do nothing; 0: they do what they do
  void (*act)(void*);     // called before the first of them
  void* argument;
};

// Begin to count from 0. Not for several threads.
void faulty_io_begin(const struct FaultyIo* plan);
// Calls since then; the program works as usual from here on.
long faulty_io_end(void);

#ifdef __cplusplus
}
#endif
