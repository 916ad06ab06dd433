/* A hash table from numbers to pointers: open addressing, linear probing, at most half full. */
#ifndef BARRIO_RANKMAP_RECORD_TABLE_H
#define BARRIO_RANKMAP_RECORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct barrio_slot {
  uint64_t key;
  void* value; /* null: the slot is free */
};
struct barrio_table {
  struct barrio_slot* slots; /* null: no slots yet */
  size_t mask;               /* slots, a power of two, minus one */
  unsigned shift;            /* of a hash, to a slot */
  size_t n;
};

static inline size_t barrio_capacity(const struct barrio_table* table) {
  return table->slots == NULL ? 0 : table->mask + 1;
}

static inline size_t barrio_home(const struct barrio_table* table, uint64_t key) {
  return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> table->shift);
}

/* @return the value, or null */
static inline void* barrio_look_up(const struct barrio_table* table, uint64_t key) {
  if (table->slots == NULL) return NULL;
  for (size_t i = barrio_home(table, key);; i = (i + 1) & table->mask) {
    if (table->slots[i].value == NULL || table->slots[i].key == key) return table->slots[i].value;
  }
}

/* Add a key that is not there. Ends the program if memory is out. */
void barrio_insert(struct barrio_table* table, uint64_t key, void* value);
/* Remove a key. @return its value, or null */
void* barrio_remove(struct barrio_table* table, uint64_t key);
void barrio_free_table(struct barrio_table* table);
/* @return zeroed memory; ends the program with a message if memory is out */
void* barrio_allocate(size_t n, size_t size);

#endif
