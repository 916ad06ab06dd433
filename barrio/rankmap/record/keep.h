/* The counts of a rank, in a file of its own that is mapped into its memory. Counting costs the same few instructions,
 * and the counts survive when a signal kills the rank. `barrio record` reads these files for a job that did not come to
 * its end: barrio/rankmap/record/kept_run.cpp, on machines of the same kind.
 *
 * A file is a sequence of chunks. A chunk begins with its size in bytes; in the first one barrio_kept_head follows. The
 * rest are records of n times 8 bytes, each beginning with its kind; kind 0 ends the chunk. */
#ifndef BARRIO_RANKMAP_RECORD_KEEP_H
#define BARRIO_RANKMAP_RECORD_KEEP_H

#include <stddef.h>
#include <stdint.h>

#define BARRIO_KEPT_MAGIC "barrio 1"

struct barrio_kept_head {
  char magic[8]; /* written last */
  int32_t rank, size;
  int32_t is_over;    /* the recording time has passed */
  int32_t is_written; /* on rank 0: the job has written its document */
  double seconds;     /* of recording, if is_over */
  char host[256];
};

enum barrio_kept_kind { barrio_kept_end, barrio_kept_messages, barrio_kept_collectives, barrio_kept_total };

/* A rank that a collective sends to: messages per call, and a fraction of the bytes of all calls. */
struct barrio_target {
  int32_t to; /* rank of the world; negative: outside of it */
  uint32_t messages;
  uint64_t times, divided_by;
};

/* Calls of one collective on one communicator, which are turned into pairs at the end. */
struct barrio_total {
  uint64_t calls, bytes;
  struct barrio_total* next; /* free one of the same size; readers ignore it */
  uint64_t n_targets;
  struct barrio_target targets[];
};

#endif
