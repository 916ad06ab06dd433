#define _GNU_SOURCE
#include "barrio/rankmap/record/find.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* find(void* scope, const char* name) {
  void* symbol = dlsym(scope, name);
  if (symbol != NULL) return symbol;
  /* A module loaded at run time brought MPI, as under Python. */
  static const char* const libraries[] = {
#ifdef OPEN_MPI
      "libmpi.so.40",
      "libmpi_mpifh.so.40",
      "libmpi.so",
#else
      "libmpich.so.12",
      "libmpi.so.12",
      "libmpich.so",
      "libmpi.so",
#endif
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && symbol == NULL; ++i) {
    void* const library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) symbol = dlsym(library, name);
  }
  return symbol;
}

void* barrio_find_constant(const char* name) { return find(RTLD_DEFAULT, name); }

void* barrio_find(const char* name) {
  void* const symbol = find(RTLD_NEXT, name);
  if (symbol != NULL) return symbol;
  fprintf(stderr,
          "barrio record: the program's MPI has no %s: it is not the " BARRIO_MPI_FLAVOUR
          " that this barrio records. Use a barrio that was built for it.\n",
          name);
  _Exit(1);
}

static int is_first(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
    if (getenv(variables[i]) != NULL) return atoi(getenv(variables[i])) == 0;
  return 1;
}

void barrio_check_mpi(void) {
  BARRIO_REAL_OF(MPI_Get_library_version);
  char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192] = "";
  int length = 0;
  BARRIO_REAL(MPI_Get_library_version)(text, &length);
#ifdef OPEN_MPI
  const int is_ours = strstr(text, "Open MPI") != NULL;
#else
  const int is_ours = strstr(text, "Open MPI") == NULL;
#endif
  if (is_ours) return;
  text[strcspn(text, "\n,")] = '\0';
  if (is_first())
    fprintf(stderr,
            "barrio record: this barrio records " BARRIO_MPI_FLAVOUR
            " programs, but the program uses another MPI: %.60s\n  use a barrio that was built for that MPI\n",
            text);
  _Exit(1);
}

MPI_Comm barrio_comm_of(barrio_key key) {
#ifdef OPEN_MPI
  BARRIO_REAL_OF(MPI_Comm_f2c);
  if (key & 1) return BARRIO_REAL(MPI_Comm_f2c)((MPI_Fint)(key >> 1));
#endif
  return (MPI_Comm)(uintptr_t)key;
}

MPI_Datatype barrio_type_of(barrio_key key) {
#ifdef OPEN_MPI
  BARRIO_REAL_OF(MPI_Type_f2c);
  if (key & 1) return BARRIO_REAL(MPI_Type_f2c)((MPI_Fint)(key >> 1));
#endif
  return (MPI_Datatype)(uintptr_t)key;
}
