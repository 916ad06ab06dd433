#include "barrio/rankmap/record/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

enum { first_chunk = 1 << 14, largest_chunk = 1 << 20, max_chunks = 1024, max_name = 256, max_tries = 1000 };

static struct barrio_recorder* const recorder = &barrio_recorder;

/* Without a file, the counts are in ordinary memory. */
static struct {
  char folder[PATH_MAX], job[max_name], path[PATH_MAX + 2 * max_name];
  int is_folder_ours, n_tries;
  char* chunks[max_chunks];
  size_t sizes[max_chunks], n_chunks, used, file_size;
  struct barrio_kept_head* head;
} kept;

static int add_chunk(size_t least) {
  size_t size = kept.n_chunks == 0 ? first_chunk : 2 * kept.sizes[kept.n_chunks - 1];
  if (size > largest_chunk) size = largest_chunk;
  while (size < least + sizeof(uint64_t)) size *= 2;
  if (kept.path[0] == '\0' || kept.n_chunks == max_chunks) return 0;
  /* The file is opened again each time: programs close descriptors that they do not know. */
  const int file = open(kept.path, O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  char* chunk = MAP_FAILED;
  /* Reserve the space: a hole in the file would kill the program if the disk is full. */
  if (posix_fallocate(file, (off_t)kept.file_size, (off_t)size) == 0)
    chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)kept.file_size);
  close(file);
  if (chunk == MAP_FAILED) return 0;
  const uint64_t bytes = size;
  memcpy(chunk, &bytes, sizeof bytes);
  kept.chunks[kept.n_chunks] = chunk;
  kept.sizes[kept.n_chunks++] = size;
  kept.used = sizeof bytes;
  kept.file_size += size;
  return 1;
}

static void* take(size_t bytes) {
  const size_t rounded = (bytes + 7) / 8 * 8;
  if (kept.n_chunks == 0 || kept.used + rounded > kept.sizes[kept.n_chunks - 1]) {
    if (!add_chunk(rounded)) return NULL;
  }
  char* const memory = kept.chunks[kept.n_chunks - 1] + kept.used;
  kept.used += rounded;
  return memory;
}

void* barrio_keep(int kind, size_t bytes) {
  uint64_t* const record = kept.head != NULL ? take(sizeof(uint64_t) + bytes) : NULL;
  if (record == NULL) {
    kept.head = NULL; /* a partial file is useless: it counts as missing */
    if (kept.n_chunks > 0) ((struct barrio_kept_head*)(void*)(kept.chunks[0] + sizeof(uint64_t)))->magic[0] = '\0';
    return barrio_allocate(1, bytes);
  }
  *record = (uint64_t)kind;
  return record + 1;
}

/* Distinguish the jobs of one command by the launcher's name for them; else by their size, and by a counter. */
static void name_job(void) {
  const char* const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_STEP_ID"};
  const char* name = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && name == NULL; ++i) name = getenv(names[i]);
  size_t n = 0;
  for (const char* letter = name != NULL ? name : "job"; *letter != '\0' && n < max_name / 2; ++letter) {
    const int is_plain = (*letter >= '0' && *letter <= '9') || (*letter >= 'a' && *letter <= 'z');
    kept.job[n++] = is_plain ? *letter : '-';
  }
  snprintf(kept.job + n, sizeof kept.job - n, "-%d", recorder->size);
}

static int create_file(void) {
  const char* const wanted = getenv("BARRIO_RECORD");
  const size_t length = strlen(wanted);
  if (length + 16 > sizeof kept.folder) return 0;
  kept.is_folder_ours = wanted[length - 1] != '/';
  snprintf(kept.folder, sizeof kept.folder, kept.is_folder_ours ? "%s.ranks" : "%s", wanted);
  if (kept.is_folder_ours) mkdir(kept.folder, S_IRWXU | S_IRWXG | S_IROTH | S_IXOTH);
  name_job();
  for (kept.n_tries = 1; kept.n_tries <= max_tries; ++kept.n_tries) {
    snprintf(kept.path, sizeof kept.path, "%s/%s.%d.%d.rank", kept.folder, kept.job, kept.n_tries, recorder->rank);
    const int file = open(kept.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (file >= 0) {
      close(file);
      return 1;
    }
    if (errno != EEXIST) break;
  }
  kept.path[0] = '\0';
  return 0;
}

/* The program does not notice this thread, which takes no signal and ends by itself. */
static void* stop_in_time(void* limit) {
  const double seconds = *(double*)limit;
  struct timespec nap = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
  while (nanosleep(&nap, &nap) != 0 && errno == EINTR) {
  }
  barrio_lock_always();
  const int is_running = recorder->state == 1 || recorder->state == 3;
  if (is_running) recorder->state = 3;
  recorder->recorded_seconds = seconds;
  if (kept.head != NULL && is_running) {
    kept.head->seconds = seconds;
    kept.head->is_over = 1;
  }
  barrio_unlock_always();
  /* For readers on other hosts; no counts are added after this. */
  for (size_t i = 0; kept.head != NULL && is_running && i < kept.n_chunks; ++i)
    msync(kept.chunks[i], kept.sizes[i], MS_SYNC);
  return NULL;
}

void barrio_start_clock(void) {
  static double seconds;
  const char* const text = getenv("BARRIO_RECORD_SECONDS");
  seconds = text != NULL ? strtod(text, NULL) : 0.0;
  if (!(seconds > 0.0 && seconds < 1e9)) return;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  if (pthread_create(&thread, NULL, stop_in_time, &seconds) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void barrio_begin_to_keep(void) {
  BARRIO_REAL_OF(MPI_Get_processor_name);
  if (create_file() && add_chunk(sizeof(struct barrio_kept_head))) {
    struct barrio_kept_head* const head = take(sizeof *head);
    char name[MPI_MAX_PROCESSOR_NAME > max_name ? MPI_MAX_PROCESSOR_NAME : max_name] = "";
    int length = 0;
    BARRIO_REAL(MPI_Get_processor_name)(name, &length);
    name[max_name - 1] = '\0';
    memcpy(head->host, name, sizeof head->host);
    head->rank = recorder->rank;
    head->size = recorder->size;
    memcpy(head->magic, BARRIO_KEPT_MAGIC, sizeof head->magic);
    kept.head = head;
  }
}

void barrio_end_keeping(void) {
  if (recorder->rank != 0) return;
  if (kept.head != NULL) kept.head->is_written = 1;
  if (!kept.is_folder_ours || kept.path[0] == '\0') return;
  for (int rank = 0; rank < recorder->size; ++rank) {
    snprintf(kept.path, sizeof kept.path, "%s/%s.%d.%d.rank", kept.folder, kept.job, kept.n_tries, rank);
    unlink(kept.path);
  }
  kept.path[0] = '\0';
  rmdir(kept.folder);
}
