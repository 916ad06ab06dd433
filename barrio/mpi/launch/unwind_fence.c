/* Compiled without unwind tables (see CMakeLists.txt): an exception that looks for a handler cannot see past this
 * frame. The search ends here as it would at the end of the stack, so std::terminate is called before any frame is
 * unwound. A noexcept function does not do this: GCC 12 unwinds up to it first, and a handler in the caller's main is
 * found where the compiler inlined it. */
int barrio_mpi_call_behind_fence(int (*call)(void*), void* argument);

int barrio_mpi_call_behind_fence(int (*call)(void*), void* argument) {
  const int result = call(argument); /* not a tail call: the frame must stay */
  return result;
}
