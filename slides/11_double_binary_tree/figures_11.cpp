// 16 MiB on eight ranks along one tree, and along both trees of lab 11's solution; and the place of each rank
// in the first tree.
#include <bitset>

#include <dist/dist.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "double_binary_tree.h"

namespace {

constexpr int ranks = 8;

template <class Way>
dist::sim::Report sum(Way way) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  return dist::sim::run(options, [way](int) {
    dist::init_process_group();
    dist::Tensor data = dist::ones({4 << 20});
    way(data);
  });
}

double in_ms(const dist::sim::Report& report) { return report.virtual_time_s * 1e3; }

void one_and_two() {
  const auto one =
      sum([](auto& data) { dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "tree"}); });
  const auto two = sum([](auto& data) { lab::double_tree_all_reduce(data, 32 * 1024); });
  std::vector<std::string> sent;
  for (const auto& of_rank : one.traffic)
    sent.push_back(fmt::format("{0}{1}{0}", of_rank.bytes_sent == one.max_bytes_sent() ? "*" : "",
                               of_rank.bytes_sent >> 20));
  fmt::print("one tree {}\ntimes {:.1f} {:.1f}\n", fmt::join(sent, " "), in_ms(one), in_ms(two));
}

void first_tree() {
  const auto binary = [](int rank) { return std::bitset<3>(static_cast<unsigned>(rank)).to_string(); };
  for (int rank = 0; rank < ranks; ++rank) {
    const auto place = lab::first_tree(rank, ranks);
    fmt::print("{} binary {}\n", rank, binary(rank));
    if (place.parent >= 0) fmt::print("{} parent {} = {}\n", rank, place.parent, binary(place.parent));
    if (!place.children.empty()) fmt::print("{} children {}\n", rank, fmt::join(place.children, ", "));
  }
}

}  // namespace

int main() {
  one_and_two();
  first_tree();
}
