#include "barrio/mpi/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "barrio/base/assert.hpp"
#include "barrio/mpi/launcher.hpp"

namespace barrio::mpi {
namespace {
// Tags below this belong to the room's own collectives.
constexpr int first_object_tag = 64;

MPI_Comm check_launcher(MPI_Comm comm) {
  if (const auto fault = find_launcher_fault()) throw AgreedError(*fault);
  return comm;
}
}  // namespace

Context::Context(MPI_Comm comm, ContextOptions options)
    : comm_(Comm::duplicate(check_launcher(comm))),
      rank_(comm_.rank()),
      size_(comm_.size()),
      options_(options),
      log_(rank_, size_),
      trace_(
          options.trace, +[] { return MPI_Wtime(); }),
      next_tag_(first_object_tag) {
  int* upper_bound = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm_.get(), MPI_TAG_UB, static_cast<void*>(&upper_bound), &found), "MPI_Comm_get_attr");
  if (const char* text = std::getenv("BARRIO_WAIT"); text != nullptr && !is_wait_kind(text))
    log_.notice(fmt::format("BARRIO_WAIT={}: must be spin, yield or block; using yield", text));
  if (found != 0 && upper_bound != nullptr) tag_limit_ = *upper_bound;
}

void Context::refuse_thread(const char* act) {
  throw Error(ErrorCode::usage, {.subject = "a thread",
                                 .cause = fmt::format("{} of a Context that belongs to another thread", act),
                                 .remedy = "give each thread a Context of its own, or hand it over by "
                                           "Context::move_to_thread()"});
}

TagBlock Context::take_tags(int count) {
  BARRIO_ASSERT(cheap, count > 0 && count < tag_limit_ - first_object_tag, count, tag_limit_);
  if (next_tag_ > tag_limit_ - count) next_tag_ = first_object_tag;
  TagBlock block{next_tag_, count, nullptr};
  if (count > 1) block.n_taken = std::make_shared<std::atomic<unsigned>>(0);
  next_tag_ += count;
  return block;
}

std::shared_ptr<void>& Context::kept_of(std::type_index type) {
  const auto found = std::ranges::find(kept_, type, &std::pair<std::type_index, std::shared_ptr<void>>::first);
  return found != kept_.end() ? found->second : kept_.emplace_back(type, nullptr).second;
}

}  // namespace barrio::mpi
