/* Compiled without unwind tables (see CMakeLists.txt): the search for an exception's handler cannot pass this
 * frame. It ends here as at the end of the stack, and std::terminate is called before any frame is unwound. A noexcept
 * function would not do: GCC 12 unwinds up to it first, and finds a handler in the caller's main where the compiler
 * inlined it. */
int barrio_mpi_call_behind_fence(int (*call)(void*), void* argument);

int barrio_mpi_call_behind_fence(int (*call)(void*), void* argument) {
  const int result = call(argument); /* not a tail call: the frame must stay */
  return result;
}
