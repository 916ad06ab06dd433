/* What a rank has counted, in a file of its own that is mapped into its memory: counting is the same few instructions,
 * and what was counted stays when the rank is killed, by whatever signal. `barrio record` reads these files of a job
 * that did not come to its end. Read by barrio/rankmap/record/kept_run.cpp, on machines of the same kind.
 *
 * A file is a row of chunks. A chunk begins with its size in bytes; in the first one barrio_kept_head follows. The rest
 * are records of 8 bytes times n, the first of which says what they are; 0: the chunk has no more. */
#ifndef BARRIO_RANKMAP_RECORD_KEEP_H
#define BARRIO_RANKMAP_RECORD_KEEP_H

#include <stddef.h>
#include <stdint.h>

#define BARRIO_KEPT_MAGIC "barrio 1"

struct barrio_kept_head {
  char magic[8]; /* written last */
  int32_t rank, size;
  int32_t is_over;    /* the time to record has passed */
  int32_t is_written; /* on rank 0: the job has its document */
  double seconds;     /* that were recorded, if is_over */
  char host[256];
};

enum barrio_kept_kind { barrio_kept_end, barrio_kept_messages, barrio_kept_collectives, barrio_kept_total };

/* A rank that a collective sends to, in so many messages a call and such a part of the bytes of all calls. */
struct barrio_target {
  int32_t to; /* in the world; negative: outside of it */
  uint32_t messages;
  uint64_t times, divided_by;
};

/* Calls of one collective on one communicator, which are turned into pairs at the end. */
struct barrio_total {
  uint64_t calls, bytes;
  struct barrio_total* next; /* of the same size, of no use now; means nothing to readers */
  uint64_t n_targets;
  struct barrio_target targets[];
};

#endif
