#include "barrio/rankmap/record/table.h"

#include <stdio.h>
#include <stdlib.h>

void* barrio_allocate(size_t n, size_t size) {
  void* memory = calloc(n, size);
  if (memory == NULL) {
    fputs("barrio record: no memory left to count messages\n", stderr);
    abort();
  }
  return memory;
}

static void put(struct barrio_table* table, uint64_t key, void* value) {
  size_t i = barrio_home(table, key);
  while (table->slots[i].value != NULL) i = (i + 1) & table->mask;
  table->slots[i] = (struct barrio_slot){key, value};
}

void barrio_insert(struct barrio_table* table, uint64_t key, void* value) {
  const size_t capacity = barrio_capacity(table);
  if (2 * (table->n + 1) > capacity) {
    const struct barrio_table old = *table;
    table->mask = capacity == 0 ? 7 : 2 * capacity - 1;
    table->shift = capacity == 0 ? 61 : old.shift - 1;
    table->slots = barrio_allocate(table->mask + 1, sizeof(struct barrio_slot));
    for (size_t i = 0; i < capacity; ++i)
      if (old.slots[i].value != NULL) put(table, old.slots[i].key, old.slots[i].value);
    free(old.slots);
  }
  put(table, key, value);
  ++table->n;
}

void* barrio_remove(struct barrio_table* table, uint64_t key) {
  void* const value = barrio_look_up(table, key);
  if (value == NULL) return NULL;
  const size_t mask = table->mask;
  size_t hole = barrio_home(table, key);
  while (table->slots[hole].key != key) hole = (hole + 1) & mask;
  /* Move up the entries that probed past the hole. */
  for (size_t i = (hole + 1) & mask; table->slots[i].value != NULL; i = (i + 1) & mask) {
    const size_t home = barrio_home(table, table->slots[i].key);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    table->slots[hole] = table->slots[i];
    hole = i;
  }
  table->slots[hole].value = NULL;
  --table->n;
  return value;
}

void barrio_free_table(struct barrio_table* table) {
  free(table->slots);
  *table = (struct barrio_table){0};
}
