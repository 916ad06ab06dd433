#include "barrio/exchange/halo.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::exchange {

RepeatedExchangeOptions detail::with_contents(RepeatedExchangeOptions options, const char* act, const MessageKind& kind,
                                              std::size_t n_components) {
  const std::string what = options.contents.empty() ? "values" : std::exchange(options.contents, {});
  options.contents = fmt::format("{} of {}, {}{}", act, what,
                                 n_components == 1 ? "" : fmt::format("{} x ", n_components), type_name(kind));
  return options;
}

std::uint64_t HaloPlan::memory_bytes() const noexcept {
  return barrio::memory_bytes(incoming) + barrio::memory_bytes(readers) + barrio::memory_bytes(out_offsets) +
         barrio::memory_bytes(out);
}

HaloPlan plan_halo(mpi::Context& context, std::span<const GlobalId> copies, std::span<const Rank> owners,
                   LocalId first_copy, const std::function<LocalId(GlobalId)>& local_of) {
  HaloPlan plan;
  plan.tags = context.take_tags(HaloPlan::n_tags);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (i == 0 || owners[i] != owners[i - 1])
      plan.incoming.push_back({owners[i], first_copy + static_cast<std::int32_t>(i), 0});
    plan.incoming.back().count += 1;
  }
  const Parcels<GlobalId> wanted = route(context, pack_by_rank<GlobalId>(owners, copies));
  agree_after(context, [&] {
    plan.readers = wanted.peers;
    plan.out_offsets = wanted.offsets;
    plan.out.reserve(wanted.items.size());
    for (const GlobalId id : wanted.items) {
      plan.out.push_back(local_of(id));
      if (plan.out.back() == no_local_id) {
        throw Error(ErrorCode::internal,
                    {.subject = "halo plan",
                     .cause = fmt::format("a rank was asked for the value with global id {}, which it does not own",
                                          value(id))});
      }
    }
  });
  return plan;
}

}  // namespace barrio::exchange
