// Lab 11, the demonstration: two trees over the same ranks, which ranks work in which of them, and what that
// saves.
//   ./distlab run 11
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "double_binary_tree.h"
#include "story.h"

namespace {

using dist::Tensor;
using story::say;

std::string level_by_level(lab::Place (*place_of)(int, int), int n, int root) {
  std::string text;
  std::vector<int> level{root};
  for (int depth = 0; !level.empty() && depth < n; ++depth) {
    std::vector<int> below;
    for (const int rank : level) {
      const auto place = place_of(rank, n);
      if (!place.children.empty()) text += fmt::format("   {} -> {}", rank, fmt::join(place.children, ","));
      below.insert(below.end(), place.children.begin(), place.children.end());
    }
    level = below;
  }
  return text;
}

void show_trees(int n) {
  const int second_root = n % 2 == 0 ? n - 1 : 1;
  say(fmt::format("   {} ranks, first tree: {}", n, level_by_level(lab::first_tree, n, 0)));
  say(fmt::format("           second tree:{}", level_by_level(lab::second_tree, n, second_root)));
  std::vector<std::string> children;
  for (int rank = 0; rank < n; ++rank)
    children.push_back(fmt::format("{}+{}", lab::first_tree(rank, n).children.size(),
                                   lab::second_tree(rank, n).children.size()));
  say(fmt::format("           children of ranks 0, 1, ...:  {}\n", fmt::join(children, "  ")));
}

void compare() {
  constexpr std::int64_t elements = 4 * 1024 * 1024, segment = 32 * 1024;
  constexpr int n = 8;
  const auto library = [&](const std::string& algorithm) {
    return story::all_reduce_run(
        n, elements, [&](Tensor& t) { dist::all_reduce(t, dist::ReduceOp::sum, {.algorithm = algorithm}); });
  };
  const auto row = [](const char* name, const dist::sim::Report& report) {
    std::string sent;
    for (const auto& of_rank : report.traffic) sent += fmt::format("{:>5}", of_rank.bytes_sent >> 20);
    say(fmt::format("   {:<18} {:>7.1f} us   {}", name, report.virtual_time_s * 1e6, sent));
  };
  say("                              time   MiB sent by rank 0, 1, ...");
  row("ring (library)", library("ring"));
  row("one tree (library)", library("tree"));
  row("both trees (yours)",
      story::all_reduce_run(n, elements, [&](Tensor& t) { lab::double_tree_all_reduce(t, segment); }));
}

void tell() {
  say("1  Two trees over the same ranks: rank -> its children");
  show_trees(8);
  show_trees(7);
  say("2  Both at the same time among 4 ranks, one segment per half, in space and time\n");
  story::draw(story::all_reduce_run(
                  4, 32, [](Tensor& t) { lab::double_tree_all_reduce(t, 16); }, true),
              11);
  say("\n3  16 MiB on 8 ranks, in the virtual time of a laptop");
  compare();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
