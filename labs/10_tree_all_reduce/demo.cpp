// Lab 10, the demonstration: a tree, the sum up and down the tree, and segments in flight.
//   ./distlab run 10
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "story.h"
#include "tree_all_reduce.h"

namespace {

using dist::Tensor;
using story::say;

// Prints the tree level by level.
void draw_tree(int n) {
  std::vector<int> level{0};
  for (int depth = 0; !level.empty() && depth < n; ++depth) {
    std::vector<std::string> ranks;
    std::vector<int> below;
    for (const int rank : level) {
      const auto place = lab::tree_place(rank, n);
      ranks.push_back(place.children.empty() ? fmt::format("{}", rank)
                                             : fmt::format("{} -> {}", rank, fmt::join(place.children, ",")));
      below.insert(below.end(), place.children.begin(), place.children.end());
    }
    say(fmt::format("   depth {}   {}", depth, fmt::join(ranks, "     ")));
    level = below;
  }
}

void compare_sizes() {
  say("   ranks  one message per link    a ring's 2(n-1) messages");
  for (const int n : {4, 16, 64, 256, 1024}) {
    const auto tree = story::all_reduce_run(n, 2, lab::tree_all_reduce);
    say(fmt::format("   {:>5}           {:>8.1f} us                 {:>8.1f} us", n,
                    tree.virtual_time_s * 1e6, 2. * (n - 1)));
  }
}

void pipeline() {
  constexpr std::int64_t elements = 4 * 1024 * 1024;
  say("   segments        time    rank 1 sends");
  const auto row = [](int m, const dist::sim::Report& report) {
    say(fmt::format("   {:>8}  {:>7.1f} us  {:>5} in {:>4} msg", m, report.virtual_time_s * 1e6,
                    story::in_bytes(report.traffic[1].bytes_sent), report.traffic[1].messages_sent));
  };
  row(1, story::all_reduce_run(8, elements, lab::tree_all_reduce));
  for (const int m : {8, 64, 256, 2048}) {
    row(m, story::all_reduce_run(8, elements,
                                 [=](Tensor& t) { lab::tree_all_reduce_pipelined(t, elements / m); }));
  }
}

void tell() {
  say("1  Ten ranks in a tree: rank -> its children");
  draw_tree(10);
  say("\n2  Up and down among 4 ranks, in space and time\n");
  story::draw(story::all_reduce_run(4, 16, lab::tree_all_reduce, true), 10);
  say("\n3  8 bytes, in the virtual time of a laptop (one message takes 1 us)");
  compare_sizes();
  say("\n4  16 MiB on 8 ranks, in segments");
  pipeline();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
