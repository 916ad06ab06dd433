/* The document of a run: schema barrio.traffic. Rank 0 asks rank after rank for its rows and writes them as they come,
 * so that no rank holds those of others. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

enum { tag = 7301, max_name = 256, max_path = 4096, links_per_message = 1 << 16 };

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

/* The rows of a table as one array, without what ranks send to themselves. */
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

/* One after the other, the rows of all ranks. */
static void write_links(MPI_Comm comm, struct document* document, const struct barrio_table* table, int is_counted) {
  BARRIO_REAL_OF(MPI_Recv);
  BARRIO_REAL_OF(MPI_Send);
  int64_t n = 0;
  struct barrio_link* const mine = list_of(table, &n);
  char go = 0;
  if (recorder->rank != 0) {
    BARRIO_REAL(MPI_Recv)(&go, 1, BARRIO_BYTE, 0, tag, comm, MPI_STATUS_IGNORE);
    BARRIO_REAL(MPI_Send)(&n, 1, BARRIO_INT64, 0, tag, comm);
    for (int64_t at = 0; at < n; at += links_per_message) {
      const int64_t some = n - at < links_per_message ? n - at : links_per_message;
      BARRIO_REAL(MPI_Send)(mine + at, (int)(some * (int64_t)sizeof *mine), BARRIO_BYTE, 0, tag, comm);
    }
  } else {
    struct barrio_link* const others = barrio_allocate(links_per_message, sizeof *others);
    int n_printed = 0;
    for (int rank = 0; rank < recorder->size; ++rank) {
      if (rank > 0) {
        BARRIO_REAL(MPI_Send)(&go, 1, BARRIO_BYTE, rank, tag, comm);
        BARRIO_REAL(MPI_Recv)(&n, 1, BARRIO_INT64, rank, tag, comm, MPI_STATUS_IGNORE);
      }
      for (int64_t at = 0; at < n; at += links_per_message) {
        const int64_t some = n - at < links_per_message ? n - at : links_per_message;
        if (rank > 0) BARRIO_REAL(MPI_Recv)
        (others, (int)(some * (int64_t)sizeof *others), BARRIO_BYTE, rank, tag, comm, MPI_STATUS_IGNORE);
        const struct barrio_link* const rows = rank > 0 ? others : mine + at;
        print_links(document, rows, some, &n_printed);
        for (int64_t i = 0; is_counted && i < some; ++i) {
          document->messages += rows[i].messages;
          document->bytes += rows[i].bytes;
        }
      }
      if (is_counted) document->pairs += (uint64_t)n;
    }
    free(others);
  }
  free(mine);
}

static void print_host(struct document* document) {
  char line[2 * max_name + 32];
  int n = snprintf(line, sizeof line, "%s[\"", document->n_hosts++ > 0 ? ", " : "");
  for (const char* letter = document->host; *letter != '\0'; ++letter)
    if (*letter >= ' ' && *letter != '"' && *letter != '\\') line[n++] = *letter;
  snprintf(line + n, sizeof line - (size_t)n, "\", %d]", document->n_on_host);
  print(document, line);
}

/* Where ranks sit: runs of ranks on one host. */
static void write_hosts(MPI_Comm comm, struct document* document) {
  BARRIO_REAL_OF(MPI_Get_processor_name);
  BARRIO_REAL_OF(MPI_Recv);
  BARRIO_REAL_OF(MPI_Send);
  char name[MPI_MAX_PROCESSOR_NAME > max_name ? MPI_MAX_PROCESSOR_NAME : max_name] = "";
  int length = 0;
  char go = 0;
  BARRIO_REAL(MPI_Get_processor_name)(name, &length);
  name[max_name - 1] = '\0';
  if (recorder->rank != 0) {
    BARRIO_REAL(MPI_Recv)(&go, 1, BARRIO_BYTE, 0, tag, comm, MPI_STATUS_IGNORE);
    BARRIO_REAL(MPI_Send)(name, max_name, BARRIO_BYTE, 0, tag, comm);
    return;
  }
  for (int rank = 0; rank < recorder->size; ++rank) {
    if (rank > 0) {
      BARRIO_REAL(MPI_Send)(&go, 1, BARRIO_BYTE, rank, tag, comm);
      BARRIO_REAL(MPI_Recv)(name, max_name, BARRIO_BYTE, rank, tag, comm, MPI_STATUS_IGNORE);
    }
    if (document->n_on_host > 0 && strcmp(name, document->host) != 0) {
      print_host(document);
      document->n_on_host = 0;
    }
    memcpy(document->host, name, max_name);
    ++document->n_on_host;
  }
  print_host(document);
}

/* A folder takes one document per job: 1.json, 2.json, ... A file is written beside itself and renamed. */
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
    for (int job = 1; document->file == NULL; ++job) {
      snprintf(document->path, sizeof document->path, "%.*s/%d.json", (int)(length - 1), wanted, job);
      snprintf(document->unfinished, sizeof document->unfinished, "%s.part", document->path);
      const int file = access(document->path, F_OK) == 0 ? -1
                                                         : open(document->unfinished, O_WRONLY | O_CREAT | O_EXCL,
                                                                S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
      if (file >= 0) document->file = fdopen(file, "w");
      if (file < 0 && access(document->path, F_OK) != 0 && errno != EEXIST && errno != ENOENT) break;
      if (file < 0 && access(wanted, W_OK) != 0) break;
    }
  }
  if (document->file == NULL) document->error = errno != 0 ? errno : EIO;
}

static void close_document(struct document* document) {
  if (document->file != NULL) {
    if (fclose(document->file) != 0 && document->error == 0) document->error = errno;
    if (document->error == 0 && rename(document->unfinished, document->path) != 0) document->error = errno;
    if (document->error != 0) unlink(document->unfinished);
  }
  if (document->error != 0) {
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

static void write_totals(MPI_Comm comm, struct document* document) {
  BARRIO_REAL_OF(MPI_Reduce);
  static const char* const names[] = {"barrier", "allreduce", "allgather", "alltoall",
                                      "bcast",   "reduce",    "gather",    "scatter"};
  enum { n_values = 2 * barrio_n_collectives + 2 };
  uint64_t mine[n_values], sums[n_values] = {0};
  for (int kind = 0; kind < barrio_n_collectives; ++kind) {
    mine[2 * kind] = recorder->totals[kind].calls;
    mine[2 * kind + 1] = recorder->totals[kind].bytes;
  }
  mine[n_values - 2] = recorder->outside.messages;
  mine[n_values - 1] = recorder->outside.bytes;
  BARRIO_REAL(MPI_Reduce)(mine, sums, n_values, BARRIO_UINT64, BARRIO_SUM, 0, comm);
  if (recorder->rank != 0) return;
  char line[160];
  print(document, "\"collective_calls\": {");
  const char* separator = "";
  for (int kind = 0; kind < barrio_n_collectives; ++kind) {
    if (sums[2 * kind] == 0) continue;
    snprintf(line, sizeof line, "%s\"%s\": {\"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", separator, names[kind],
             sums[2 * kind], sums[2 * kind + 1]);
    print(document, line);
    separator = ", ";
  }
  snprintf(line, sizeof line, "},\n\"to_other_jobs\": {\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 "},\n",
           sums[n_values - 2], sums[n_values - 1]);
  print(document, line);
}

void barrio_write(void) {
  if (!barrio_is_counting() && recorder->state != 3) return;
  recorder->state = 2;
  BARRIO_REAL_OF(MPI_Comm_dup);
  BARRIO_REAL_OF(MPI_Comm_free);
  BARRIO_REAL_OF(MPI_Wtime);
  const double seconds = BARRIO_REAL(MPI_Wtime)() - recorder->started;
  spread_all();
  MPI_Comm comm;
  BARRIO_REAL(MPI_Comm_dup)(recorder->world, &comm);
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
  write_totals(comm, document);
  print(document, "\"hosts\": [");
  write_hosts(comm, document);
  print(document, "],\n\"entries\": [\n");
  write_links(comm, document, &recorder->messages, 1);
  print(document, "\n],\n\"collectives\": [\n");
  write_links(comm, document, &recorder->collectives, 0);
  print(document, "\n]\n}\n");
  if (recorder->rank == 0) close_document(document);
  BARRIO_REAL(MPI_Comm_free)(&comm);
  free(document);
}
