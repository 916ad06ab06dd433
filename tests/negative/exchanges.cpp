// Exchanges of copies that do not meet, in the way the first argument names. expect.py launches it and checks how the
// job ends.
#include <memory>
#include <vector>

#include "barrio/exchange/gather_scatter.hpp"
#include "barrio/exchange/halo.hpp"
#include "barrio/mpi/agree.hpp"
#include "tests/negative/scenarios.hpp"

namespace {

using namespace barrio;
using exchange::HaloExchange;
using exchange::HaloPlan;

constexpr exchange::RepeatedExchangeOptions impatient(const char* contents) {
  return {.contents = contents, .stall_warning_seconds = 0.1, .stall_limit_seconds = 0.5};
}

/// Each rank owns one value, and has a copy of that of each other rank.
std::shared_ptr<const HaloPlan> plan_all(Context& context) {
  std::vector<GlobalId> copies;
  std::vector<Rank> owners;
  for (Rank rank = 0; rank < context.size(); ++rank) {
    if (rank == context.rank()) continue;
    copies.push_back(GlobalId{rank});
    owners.push_back(rank);
  }
  return std::make_shared<const HaloPlan>(
      exchange::plan_halo(context, copies, owners, local_id(1), [&](GlobalId) { return local_id(0); }));
}

/// Let the last rank exchange a field of another plan.
void exchange_another_plan(Context& context) {
  const bool is_last = context.rank() == context.size() - 1;
  const std::shared_ptr<const HaloPlan> of_cells = plan_all(context);
  const std::shared_ptr<const HaloPlan> of_vertices = plan_all(context);
  std::vector<double> values(context.size());
  HaloExchange<double>(context, is_last ? of_vertices : of_cells, values, 1,
                       impatient(is_last ? "field 'p' on vertices" : "field 'u' on cells"))
      .exchange();
}

/// Let the last rank agree on an outcome instead.
void leave_out(Context& context) {
  const std::shared_ptr<const HaloPlan> plan = plan_all(context);
  std::vector<double> values(context.size());
  HaloExchange<double> halo(context, plan, values, 1, impatient("field 'u'"));
  halo.exchange();
  if (context.rank() != context.size() - 1) halo.exchange();
  agree(context, {});
}

/// Let the last rank exchange two fields in another order, and wait for each.
void exchange_in_another_order(Context& context) {
  const std::shared_ptr<const HaloPlan> plan = plan_all(context);
  std::vector<double> u(context.size());
  std::vector<double> v(context.size());
  HaloExchange<double> of_u(context, plan, u, 1, impatient("field 'u'"));
  HaloExchange<double> of_v(context, plan, v, 1, impatient("field 'v'"));
  of_u.exchange();
  of_v.exchange();
  const bool is_last = context.rank() == context.size() - 1;
  (is_last ? of_v : of_u).exchange();
  (is_last ? of_u : of_v).exchange();
}

/// Let the last rank have a field of another type.
void exchange_another_type(Context& context) {
  const std::shared_ptr<const HaloPlan> plan = plan_all(context);
  if (context.rank() == context.size() - 1) {
    std::vector<std::int64_t> values(context.size());
    HaloExchange<std::int64_t>(context, plan, values, 1, impatient("field 'u'")).exchange();
  } else {
    std::vector<double> values(context.size());
    HaloExchange<double>(context, plan, values, 1, impatient("field 'u'")).exchange();
  }
  agree(context, {});
}

/// Let the last rank take maxima where the others sum.
void combine_otherwise(Context& context) {
  const std::vector<GlobalId> ids{GlobalId{7}, GlobalId{8}};
  std::vector<double> values{1, 2};
  exchange::GatherScatter gather(context, ids);
  if (context.rank() == context.size() - 1) {
    gather.apply(values, 1, exchange::Max{});
  } else {
    gather.apply(values, 1, exchange::Sum{});
  }
  agree(context, {});
}

const test::Scenarios scenarios{
    {"other_plan", exchange_another_plan},      {"left_out", leave_out},
    {"other_order", exchange_in_another_order}, {"other_type", exchange_another_type},
    {"other_operator", combine_otherwise},
};

}  // namespace

int main(int argc, char** argv) { return test::run_scenario(argc, argv, scenarios); }
