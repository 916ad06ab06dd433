/* The document of a run: schema barrio.traffic. Rank 0 asks rank after rank for its rows and writes them as they
 * arrive, so no rank holds those of others. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

/* The messages go over the program's own world, since its messages have ended. A duplicate of the world would call the
 * functions of its attributes. */
enum { tag = 32111, max_name = 256, max_path = 4096, links_per_message = 1 << 16 };

static struct barrio_recorder* const recorder = &barrio_recorder;

struct document {
  FILE* file;
  char path[max_path], unfinished[max_path + 8];
  int error;
  uint64_t messages, bytes, pairs;
  char host[max_name];
  int n_on_host, n_hosts;
};

static int by_target(const void* a, const void* b) {
  const struct barrio_link *left = a, *right = b;
  if (left->from != right->from) return left->from < right->from ? -1 : 1;
  return (left->to > right->to) - (left->to < right->to);
}

/* @return the rows of a table as one array, without the traffic of ranks to themselves */
static struct barrio_link* list_of(const struct barrio_table* table, int64_t* n) {
  struct barrio_link* const list = barrio_allocate(table->n + 1, sizeof *list);
  const size_t capacity = barrio_capacity(table);
  *n = 0;
  for (size_t i = 0; i < capacity; ++i) {
    const struct barrio_link* const link = table->slots[i].value;
    if (link != NULL && link->from != link->to && link->messages > 0) list[(*n)++] = *link;
  }
  qsort(list, (size_t)*n, sizeof *list, by_target);
  return list;
}

static void print(struct document* document, const char* text) {
  if (document->file != NULL && fputs(text, document->file) < 0) document->error = errno;
}

static void print_links(struct document* document, const struct barrio_link* links, int64_t n, int* n_printed) {
  char line[128];
  for (int64_t i = 0; i < n; ++i) {
    snprintf(line, sizeof line, "%s[%d,%d,0,%" PRIu64 ",%" PRIu64 "]", *n_printed > 0 ? ",\n" : "", links[i].from,
             links[i].to, links[i].bytes, links[i].messages);
    print(document, line);
    *n_printed = 1;
  }
}

/* Receive with a limit: ranks that are not recorded never answer. @return whether all arrived before the limit; else
 * nobody waits any more */
static int receive(void* buffer, int n_bytes, int from) {
  BARRIO_REAL_OF(MPI_Iprobe);
  BARRIO_REAL_OF(MPI_Recv);
  BARRIO_REAL_OF(MPI_Wtime);
  static int has_given_up;
  const char* const limit = getenv("BARRIO_RECORD_WAIT");
  const double end = BARRIO_REAL(MPI_Wtime)() + (limit != NULL ? atof(limit) : 600);
  for (int is_here = 0; !has_given_up && !is_here;) {
    BARRIO_REAL(MPI_Iprobe)(from, tag, recorder->world, &is_here, MPI_STATUS_IGNORE);
    if (is_here) break;
    sched_yield();
    has_given_up = BARRIO_REAL(MPI_Wtime)() > end;
  }
  if (has_given_up) return 0;
  BARRIO_REAL(MPI_Recv)(buffer, n_bytes, BARRIO_BYTE, from, tag, recorder->world, MPI_STATUS_IGNORE);
  return 1;
}

static void send(const void* buffer, int n_bytes, int to) {
  BARRIO_REAL_OF(MPI_Send);
  BARRIO_REAL(MPI_Send)(buffer, n_bytes, BARRIO_BYTE, to, tag, recorder->world);
}

/* Take up to `links_per_message` rows of a rank at a time. */
static int write_rows(struct document* document, int rank, const struct barrio_link* mine, int64_t n, int is_counted,
                      struct barrio_link* others, int* n_printed) {
  for (int64_t at = 0; at < n; at += links_per_message) {
    const int64_t some = n - at < links_per_message ? n - at : links_per_message;
    if (rank > 0 && !receive(others, (int)(some * (int64_t)sizeof *others), rank)) return 0;
    const struct barrio_link* const rows = rank > 0 ? others : mine + at;
    print_links(document, rows, some, n_printed);
    for (int64_t i = 0; is_counted && i < some; ++i) {
      document->messages += rows[i].messages;
      document->bytes += rows[i].bytes;
    }
  }
  if (is_counted) document->pairs += (uint64_t)n;
  return 1;
}

/* Write the rows of all ranks, one rank after the other. @return whether all answered */
static int write_links(struct document* document, const struct barrio_table* table, int is_counted) {
  int64_t n = 0;
  struct barrio_link* const mine = list_of(table, &n);
  char go = 0;
  int is_whole = 1;
  if (recorder->rank != 0) {
    is_whole = receive(&go, 1, 0);
    if (is_whole) send(&n, sizeof n, 0);
    for (int64_t at = 0; is_whole && at < n; at += links_per_message) {
      const int64_t some = n - at < links_per_message ? n - at : links_per_message;
      send(mine + at, (int)(some * (int64_t)sizeof *mine), 0);
    }
  } else {
    struct barrio_link* const others = barrio_allocate(links_per_message, sizeof *others);
    int n_printed = 0;
    for (int rank = 0; is_whole && rank < recorder->size; ++rank) {
      if (rank > 0) {
        send(&go, 1, rank);
        is_whole = receive(&n, sizeof n, rank);
      }
      if (is_whole) is_whole = write_rows(document, rank, mine, n, is_counted, others, &n_printed);
    }
    free(others);
  }
  free(mine);
  return is_whole;
}

static void print_host(struct document* document) {
  char line[2 * max_name + 32];
  int n = snprintf(line, sizeof line, "%s[\"", document->n_hosts++ > 0 ? ", " : "");
  for (const char* letter = document->host; *letter != '\0'; ++letter)
    if (*letter >= ' ' && *letter != '"' && *letter != '\\') line[n++] = *letter;
  snprintf(line + n, sizeof line - (size_t)n, "\", %d]", document->n_on_host);
  print(document, line);
}

/* Data of a rank about itself. */
struct introduction {
  char host[max_name];
  struct barrio_collective_total totals[barrio_n_collectives];
  uint64_t messages_outside, bytes_outside;
};

static void print_totals(struct document* document, const struct introduction* sums) {
  static const char* const names[] = {"barrier", "allreduce", "reduce_scatter", "allgather", "alltoall",
                                      "bcast",   "reduce",    "gather",         "scatter"};
  char line[160];
  print(document, "],\n\"collective_calls\": {");
  const char* separator = "";
  for (int kind = 0; kind < barrio_n_collectives; ++kind) {
    if (sums->totals[kind].calls == 0) continue;
    snprintf(line, sizeof line, "%s\"%s\": {\"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", separator, names[kind],
             sums->totals[kind].calls, sums->totals[kind].bytes);
    print(document, line);
    separator = ", ";
  }
  snprintf(line, sizeof line, "},\n\"to_other_jobs\": {\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 "},\n",
           sums->messages_outside, sums->bytes_outside);
  print(document, line);
}

/* Write the hosts of ranks, as runs of ranks on one host, and the totals of all. @return whether all answered */
static int write_introductions(struct document* document) {
  BARRIO_REAL_OF(MPI_Get_processor_name);
  struct introduction* const mine = barrio_allocate(2, sizeof *mine);
  struct introduction* const sums = mine + 1;
  char name[MPI_MAX_PROCESSOR_NAME > max_name ? MPI_MAX_PROCESSOR_NAME : max_name] = "";
  int length = 0, is_whole = 1;
  char go = 0;
  BARRIO_REAL(MPI_Get_processor_name)(name, &length);
  name[max_name - 1] = '\0';
  memcpy(mine->host, name, max_name);
  memcpy(mine->totals, recorder->totals, sizeof mine->totals);
  mine->messages_outside = recorder->outside.messages;
  mine->bytes_outside = recorder->outside.bytes;
  if (recorder->rank != 0) {
    is_whole = receive(&go, 1, 0);
    if (is_whole) send(mine, sizeof *mine, 0);
    free(mine);
    return is_whole;
  }
  print(document, "\"hosts\": [");
  for (int rank = 0; is_whole && rank < recorder->size; ++rank) {
    if (rank > 0) {
      send(&go, 1, rank);
      is_whole = receive(mine, sizeof *mine, rank);
    }
    if (document->n_on_host > 0 && strcmp(mine->host, document->host) != 0) {
      print_host(document);
      document->n_on_host = 0;
    }
    memcpy(document->host, mine->host, max_name);
    ++document->n_on_host;
    for (int kind = 0; kind < barrio_n_collectives; ++kind) {
      sums->totals[kind].calls += mine->totals[kind].calls;
      sums->totals[kind].bytes += mine->totals[kind].bytes;
    }
    sums->messages_outside += mine->messages_outside;
    sums->bytes_outside += mine->bytes_outside;
  }
  print_host(document);
  print_totals(document, sums);
  free(mine);
  return is_whole;
}

/* Open the document. A folder takes one document per job: 1.json, 2.json, ... A file is written beside its name, and
 * then renamed. */
static void open_document(struct document* document) {
  const char* const wanted = getenv("BARRIO_RECORD");
  const size_t length = strlen(wanted);
  if (length >= max_path - 16) {
    document->error = ENAMETOOLONG;
    return;
  }
  if (wanted[length - 1] != '/') {
    snprintf(document->path, sizeof document->path, "%s", wanted);
    snprintf(document->unfinished, sizeof document->unfinished, "%s.part", wanted);
    document->file = fopen(document->unfinished, "w");
  } else {
    for (int job = 1; document->file == NULL && document->error == 0; ++job) {
      snprintf(document->path, sizeof document->path, "%.*s/%d.json", (int)(length - 1), wanted, job);
      snprintf(document->unfinished, sizeof document->unfinished, "%s.part", document->path);
      if (access(document->path, F_OK) == 0) continue;
      const int file = open(document->unfinished, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
      if (file >= 0) document->file = fdopen(file, "w");
      if (file < 0 && errno != EEXIST) document->error = errno;
    }
  }
  if (document->file == NULL && document->error == 0) document->error = errno != 0 ? errno : EIO;
}

static void close_document(struct document* document) {
  if (document->file != NULL) {
    if (fclose(document->file) != 0 && document->error == 0) document->error = errno;
    if (document->error == 0 && rename(document->unfinished, document->path) != 0) document->error = errno;
    if (document->error != 0) unlink(document->unfinished);
  }
  if (document->error == ETIMEDOUT) {
    fputs(
        "barrio record: some ranks did not reach MPI_Finalize, or are not recorded: there is no document\n"
        "  start all ranks in the same way\n",
        stderr);
  } else if (document->error != 0) {
    fprintf(stderr, "barrio record: %s cannot be written: %s\n  the program went on; its traffic is lost\n",
            document->path[0] != '\0' ? document->path : getenv("BARRIO_RECORD"), strerror(document->error));
  } else if (getenv("BARRIO_RECORD_QUIET") == NULL) {
    fprintf(stderr,
            "barrio record: %s: %" PRIu64 " messages, %" PRIu64 " bytes between %" PRIu64 " pairs of %d ranks\n",
            document->path, document->messages, document->bytes, document->pairs, recorder->size);
  }
}

static void spread_all(void) {
  const struct barrio_table* const all = &recorder->members;
  const size_t capacity = barrio_capacity(all);
  for (size_t i = 0; i < capacity; ++i)
    if (all->slots[i].value != NULL) barrio_spread_collectives(all->slots[i].value);
}

void barrio_write(void) {
  if (!barrio_is_counting() && recorder->state != 3) return;
  recorder->state = 2;
  BARRIO_REAL_OF(MPI_Wtime);
  const double now = BARRIO_REAL(MPI_Wtime)();
  const double seconds = recorder->recorded_seconds > 0.0 ? recorder->recorded_seconds : now - recorder->started;
  spread_all();
  struct document* const document = barrio_allocate(1, sizeof *document);
  if (recorder->rank == 0) {
    open_document(document);
    char head[256];
    snprintf(
        head, sizeof head,
        "{\n\"schema\": \"barrio.traffic\",\n\"schema_version\": 1,\n\"made_by\": \"barrio record, " BARRIO_MPI_FLAVOUR
        "\",\n\"ranks\": %d,\n\"seconds\": %.6g,\n",
        recorder->size, seconds);
    print(document, head);
  }
  int is_whole = write_introductions(document);
  print(document, "\"entries\": [\n");
  is_whole = is_whole && write_links(document, &recorder->messages, 1);
  print(document, "\n],\n\"collectives\": [\n");
  is_whole = is_whole && write_links(document, &recorder->collectives, 0);
  print(document, "\n]\n}\n");
  if (!is_whole && document->error == 0) document->error = ETIMEDOUT;
  if (recorder->rank == 0) close_document(document);
  if (document->error == 0) barrio_end_keeping();
  free(document);
}
