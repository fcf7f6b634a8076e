// What all ranks together send for a softmax over 128,000 logits on eight ranks, in three ways.
#include <fmt/format.h>

#include "dist/simulate/simulate_collective.h"

namespace {

std::uint64_t bytes_sent(const dist::sim::CollectiveRun& run) {
  std::uint64_t bytes = 0;
  const auto cost = dist::sim::simulate_collective(run, dist::sim::Topology::rounds());
  for (const auto& link : cost.links) bytes += link.bytes;
  return bytes;
}

}  // namespace

int main() {
  using dist::OpKind;
  constexpr int ranks = 8, logit = 4, pair = 16, number = 8;
  const auto logits = bytes_sent({OpKind::all_gather, "ring", ranks, 128'000 * logit, {}, true});
  const auto one = bytes_sent({OpKind::all_reduce, "recursive_doubling", ranks, number, {}, true});
  const auto pairs = bytes_sent({OpKind::all_gather, "ring", ranks, ranks * pair, {}, true});
  fmt::print("logits {:.1f} MB\nnumbers {}\npairs {}\n", static_cast<double>(logits) / 1e6, 2 * one, pairs);
}
