#include "dist/parallel/clip_grad_norm.h"

#include <memory>
#include <ranges>
#include <string>
#include <utility>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"
#include "dist/nn/clip_grad_norm.h"

namespace dist {

double clip_grad_norm(const std::vector<DividedParameter>& parameters,
                      const std::vector<ProcessGroup>& groups, double max_norm, bool error_if_nonfinite,
                      Caller) {
  if (groups.size() > 8)
    fail(Errc::invalid_argument, "clip_grad_norm: {} groups; there can be 8", groups.size());
  const auto record = [&](std::uint32_t over, bool counts) {
    auto placed = std::make_shared<Placed>(Shape());
    for (std::size_t g = 0; g < groups.size(); ++g)
      if ((over >> g & 1) != 0)
        placed->axes.push_back(
            {.name = "group " + std::to_string(g), .group = groups[g], .placement = Shard(0)});
    if (!counts) placed->copy_of = "another";
    return placed;
  };
  nn::Parameter in_all_groups;  // every rank takes part in all sums, whatever it has
  in_all_groups.division = record(~std::uint32_t{0}, true);
  in_all_groups.requires_grad(false);
  std::vector<nn::Parameter*> all;
  struct Records {  // that the parameters have had
    std::vector<std::pair<nn::Parameter*, std::shared_ptr<nn::Division>>> before = {};
    ~Records() {
      for (auto& [parameter, division] : std::views::reverse(before))
        parameter->division = std::move(division);
    }
  } records;
  for (const auto& [parameter, over, counts] : parameters) {
    records.before.emplace_back(parameter, std::exchange(parameter->division, record(over, counts)));
    all.push_back(parameter);
  }
  all.push_back(&in_all_groups);
  return nn::clip_grad_norm(all, max_norm, {.error_if_nonfinite = error_if_nonfinite});
}

}  // namespace dist
