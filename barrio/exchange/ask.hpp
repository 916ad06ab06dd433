#pragma once

/// @file Ask other ranks for values: requests to any rank, answers back in order.

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/router.hpp"

namespace barrio::exchange {

/// Send requests to ranks and return their answers. Each rank answers all requests that it received in one call.
/// Collective.
/// @param[in] to  the destination of each request: any rank including this one, in any order
/// @param[in] requests  a vector or span, as many as `to`
/// @param answer_all  std::vector<Answer>(const Parcels<Request>&): one answer for each received request, in the order
/// of its items: by ascending asking rank, then in the order in which that rank asked. It may be collective
/// @param by  the same on all ranks; answers take the same route as requests
/// @return the answer to requests[i] at i. @throws Error{usage} as `route`
/// Cost: two routes; memory O(requests sent + requests received)
template <std::ranges::contiguous_range Requests, class AnswerAll>
[[nodiscard]] auto ask_together(mpi::Context& context, std::span<const Rank> to, const Requests& requests,
                                AnswerAll&& answer_all, Route by = Route::crystal) {
  using Request = std::ranges::range_value_t<Requests>;
  using Answers = std::remove_cvref_t<std::invoke_result_t<AnswerAll&, const Parcels<Request>&>>;
  using Answer = typename Answers::value_type;
  BARRIO_ASSERT(cheap, to.size() == std::ranges::size(requests), to.size());
  Parcels<Request> asked = route(context, pack_by_rank(to, requests), by);
  Answers given = answer_all(std::as_const(asked));
  BARRIO_ASSERT(cheap, given.size() == asked.items.size(), given.size(), asked.items.size());
  free_memory(asked.items);
  Parcels<Answer> answers{std::move(asked.peers), std::move(asked.offsets), std::move(given)};
  std::vector<Answer> sorted = route(context, std::move(answers), by).items;  // by ascending answering rank
  if (std::ranges::is_sorted(to)) return sorted;
  std::vector<Answer> result(sorted.size());
  const std::vector<std::size_t> order = order_by_rank(to);
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = sorted[i];
  return result;
}

/// Ask as `ask_together`, but answer each request by itself. @param answer  Answer(const Request&), local
template <std::ranges::contiguous_range Requests, class AnswerOne>
[[nodiscard]] auto ask(mpi::Context& context, std::span<const Rank> to, const Requests& requests, AnswerOne&& answer,
                       Route by = Route::crystal) {
  using Request = std::ranges::range_value_t<Requests>;
  using Answer = std::remove_cvref_t<std::invoke_result_t<AnswerOne&, const Request&>>;
  return ask_together(
      context, to, requests,
      [&](const Parcels<Request>& asked) {
        std::vector<Answer> answers;
        answers.reserve(asked.items.size());
        for (const Request& request : asked.items) answers.push_back(answer(request));
        return answers;
      },
      by);
}

}  // namespace barrio::exchange
