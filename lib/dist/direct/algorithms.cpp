#include "dist/direct/algorithms.h"

#include <array>
#include <vector>

#include "dist/core/fail.h"
#include "dist/direct/on_rounds.h"

namespace dist {
namespace {

struct Named {
  OpKind collective;
  std::string_view name;
  DirectFunction run;
};

constexpr std::array table{
    Named{OpKind::broadcast, "direct", on_rounds::direct_broadcast},
    Named{OpKind::reduce, "direct", on_rounds::direct_reduce},
    Named{OpKind::all_reduce, "one_shot", on_rounds::one_shot_all_reduce},
    Named{OpKind::all_reduce, "two_shot", on_rounds::two_shot_all_reduce},
    Named{OpKind::scatter, "direct", on_rounds::direct_scatter},
    Named{OpKind::gather, "direct", on_rounds::direct_gather},
    Named{OpKind::all_gather, "direct", on_rounds::direct_all_gather},
    Named{OpKind::reduce_scatter, "direct", on_rounds::direct_reduce_scatter},
    Named{OpKind::all_to_all, "direct", on_rounds::direct_all_to_all},
    Named{OpKind::barrier, "direct", on_rounds::direct_barrier},
};

DirectFunction named(const AlgorithmEntry& entry) {
  for (const Named& each : table)
    if (each.collective == entry.collective && each.name == entry.name) return each.run;
  fail(Errc::internal, "{} by {} has no function in direct/algorithms.cpp", name(entry.collective),
       entry.name);
}

// By position in algorithms(): every call asks.
std::vector<DirectFunction> in_order() {
  std::vector<DirectFunction> all;
  for (const AlgorithmEntry& entry : algorithms()) all.push_back(entry.direct ? named(entry) : nullptr);
  return all;
}

}  // namespace

DirectFunction direct_function(const AlgorithmEntry& entry) {
  static const std::vector<DirectFunction> all = in_order();
  return all.at(static_cast<std::size_t>(&entry - algorithms().data()));
}

}  // namespace dist
