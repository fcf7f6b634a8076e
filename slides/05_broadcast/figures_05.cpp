// Which rank sends to which, in the library's binomial tree over eight ranks.
#include <bitset>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/collectives/trees.h"

int main() {
  const auto binary = [](int place) { return std::bitset<3>(static_cast<unsigned>(place)).to_string(); };
  for (int place = 0; place < 8; ++place) {
    const auto node = dist::binomial_node(place, 0, 8);
    std::vector<int> told;
    for (const auto& child : node.children) told.push_back(child.rank);
    fmt::print("{} binary {}\n", place, binary(place));
    if (!node.is_root()) fmt::print("{} from {} = {}\n", place, node.parent, binary(node.parent));
    if (!node.is_leaf()) fmt::print("{} tells {}\n", place, fmt::join(told, ", "));
  }
}
