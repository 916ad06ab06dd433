// Code shared by halo.c and overlap.cpp, in C: options, a strip of a 2-D field, a row of a Jacobi sweep, results.
#pragma once

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_blocks = 6 };  // of steps; the fastest block is reported

struct Options {
  int nx;              // cells in a row, and in a message
  int ny;              // rows on all ranks
  int steps;           // in a block
  int tests;           // MPI_Testall per step, between rows of the interior
  double late_ms;      // delay of one rank per step, in turn
  int receives_first;  // wait for sends a step later
  int thread;          // exchange on a thread of its own
};

// Rows first_row .. first_row + n_rows of the field. Row i of the strip is at now + i * nx. Rows 0 and n_rows + 1 are
// copies of the neighbours' rows, or the fixed boundary of the field.
struct Strip {
  int rank, n_ranks;
  int above, below;  // neighbours, or MPI_PROC_NULL
  int nx, first_row, n_rows;
  double* now;
  double* next;
};

// Times of a block of steps on this rank, in seconds.
struct Times {
  double all;
  double waiting;
};

static inline double* row_of(double* values, const struct Strip* strip, int row) {
  return values + (size_t)row * (size_t)strip->nx;
}

static inline void swap_fields(struct Strip* strip) {
  double* const now = strip->now;
  strip->now = strip->next;
  strip->next = now;
}

// One row of a Jacobi sweep; its ends are the fixed boundary.
static inline void sweep_row(const struct Strip* strip, int row) {
  const int nx = strip->nx;
  const double* const here = row_of(strip->now, strip, row);
  double* const out = row_of(strip->next, strip, row);
  for (int i = 1; i < nx - 1; ++i) out[i] = 0.25 * (here[i - nx] + here[i - 1] + here[i + 1] + here[i + nx]);
}

// Extra seconds for each row of the interior in this step: each rank in turn has more work than the others.
static inline double late_row_seconds(const struct Strip* strip, const struct Options* options, int step) {
  if (step % strip->n_ranks != strip->rank || strip->n_rows <= 2) return 0.0;
  return 1e-3 * options->late_ms / (strip->n_rows - 2);
}

static inline void work_for(double seconds) {
  if (seconds <= 0.0) return;
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

// True if a test is due after this row: tests are spread over the rows of the interior, at most one after each.
static inline int is_test_due(const struct Strip* strip, int row, int tests) {
  const int64_t rows = strip->n_rows - 2;
  return (int64_t)(row - 1) * tests / rows > (int64_t)(row - 2) * tests / rows;
}

static inline struct Strip make_strip(const struct Options* options) {
  struct Strip strip;
  MPI_Comm_rank(MPI_COMM_WORLD, &strip.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &strip.n_ranks);
  const int share = options->ny / strip.n_ranks;
  const int rest = options->ny % strip.n_ranks;
  strip.nx = options->nx;
  strip.n_rows = share + (strip.rank < rest ? 1 : 0);
  strip.first_row = strip.rank * share + (strip.rank < rest ? strip.rank : rest);
  strip.above = strip.rank > 0 ? strip.rank - 1 : MPI_PROC_NULL;
  strip.below = strip.rank + 1 < strip.n_ranks ? strip.rank + 1 : MPI_PROC_NULL;
  const size_t n = (size_t)(strip.n_rows + 2) * (size_t)strip.nx;
  strip.now = (double*)malloc(n * sizeof(double));
  strip.next = (double*)malloc(n * sizeof(double));
  if (strip.now == NULL || strip.next == NULL) {
    fprintf(stderr, "rank %d: no memory for two fields of %zu values\n", strip.rank, n);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);  // MPI_Abort is not declared noreturn
  }
  for (int row = 0; row < strip.n_rows + 2; ++row)
    for (int i = 0; i < strip.nx; ++i)
      row_of(strip.now, &strip, row)[i] = (double)((31 * ((int64_t)strip.first_row + row) + 17 * (int64_t)i) % 1009);
  memcpy(strip.next, strip.now, n * sizeof(double));
  return strip;
}

static inline void free_strip(struct Strip* strip) {
  free(strip->now);
  free(strip->next);
}

// Scramble 64 bits (SplitMix64).
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// A sum modulo 2^64 over cells and the bits of their values. It does not depend on the order or the number of ranks.
static inline uint64_t local_checksum(const struct Strip* strip) {
  uint64_t sum = 0;
  for (int row = 1; row <= strip->n_rows; ++row) {
    for (int i = 0; i < strip->nx; ++i) {
      const uint64_t cell = (uint64_t)(strip->first_row + row) * (uint64_t)strip->nx + (uint64_t)i;
      uint64_t bits = 0;
      memcpy(&bits, row_of(strip->now, strip, row) + i, sizeof bits);
      sum += mix(mix(cell) ^ bits);
    }
  }
  return sum;
}

// Print the fastest block: the time of a step, and its wait, averaged over ranks.
static inline void report(const struct Strip* strip, const struct Options* options, const struct Times* blocks) {
  struct Times best = {0.0, 0.0};
  for (int block = 0; block < n_blocks; ++block) {
    struct Times times = blocks[block];
    MPI_Allreduce(MPI_IN_PLACE, &times.all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &times.waiting, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (block == 0 || times.all < best.all) best = times;
  }
  uint64_t checksum = local_checksum(strip);
  MPI_Allreduce(MPI_IN_PLACE, &checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (strip->rank > 0) return;
  printf("a step takes %.3f ms, of which %.3f ms are left in the wait; checksum %016llx\n",
         1e3 * best.all / options->steps, 1e3 * best.waiting / options->steps / strip->n_ranks,
         (unsigned long long)checksum);
}

// Print on rank 0 the fault of the command line. Returns the exit code.
static inline int complain(const char* program, const char* subject, const char* cause) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "%s: %s %s; see --help\n", program, subject, cause);
  return 2;
}

// Parse the command line. Returns -1, or the exit code.
static inline int parse(int argc, char** argv, const char* program, struct Options* options) {
  int rank = 0;
  int n_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const struct {
    const char* name;
    int* value;
    int least;
    const char* meaning;
  } numbers[] = {{"--nx", &options->nx, 3, "cells in a row; a message has 8 bytes for each"},
                 {"--ny", &options->ny, 1, "rows on all ranks, at least one each"},
                 {"--steps", &options->steps, 1, "steps in each of 6 blocks"},
                 {"--tests", &options->tests, 0, "tests per step while the interior is computed"}};
  const int n_numbers = (int)(sizeof numbers / sizeof numbers[0]);
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--help") == 0) {
      if (rank != 0) return 0;
      printf("usage: %s [OPTIONS]\n", program);
      for (int k = 0; k < n_numbers; ++k)
        printf("  %-18s %s (%d)\n", numbers[k].name, numbers[k].meaning, *numbers[k].value);
      printf("  %-18s milliseconds by which one rank per step is late, in turn (0)\n", "--late");
      printf("  %-18s wait for sends a step later (halo)\n", "--receives-first");
      printf("  %-18s exchange on a thread of its own (overlap)\n", "--thread");
      return 0;
    }
    if (strcmp(name, "--receives-first") == 0) {
      options->receives_first = 1;
      continue;
    }
    if (strcmp(name, "--thread") == 0) {
      options->thread = 1;
      continue;
    }
    int k = 0;
    while (k < n_numbers && strcmp(name, numbers[k].name) != 0) ++k;
    const int is_late = strcmp(name, "--late") == 0;
    if (k == n_numbers && !is_late) return complain(program, name, "is not an option");
    if (i + 1 == argc) return complain(program, name, "needs a number");
    const char* const text = argv[++i];
    char* end = NULL;
    if (is_late) {
      options->late_ms = strtod(text, &end);
      if (end == text || *end != '\0' || !(options->late_ms >= 0.0 && options->late_ms <= 1000.0))
        return complain(program, name, "must be a number from 0 to 1000");
    } else {
      const long value = strtol(text, &end, 10);
      char cause[80];
      snprintf(cause, sizeof cause, "must be an integer from %d to %d", numbers[k].least, INT_MAX / 16);
      if (end == text || *end != '\0' || value < numbers[k].least || value > INT_MAX / 16)
        return complain(program, name, cause);
      *numbers[k].value = (int)value;
    }
  }
  if (options->ny < n_ranks) return complain(program, "--ny", "must be at least the number of ranks: each needs a row");
  return -1;
}
