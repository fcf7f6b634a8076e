// Which segment goes up and which comes down in each turn: at ranks of three depths, in a run of lab 10's
// solution.
#include <algorithm>

#include <dist/dist.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/trace/messages.h"

#include "tree_all_reduce.h"

namespace {

constexpr int ranks = 15, segments = 8, turns = 6;

dist::sim::Report run() {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.trace = true;
  return dist::sim::run(options, [](int) {
    dist::init_process_group();
    dist::Tensor data = dist::ones({segments});
    lab::tree_all_reduce_pipelined(data, 1);
  });
}

// Before a rank sends up segment t it expects segment t + 1 of its first child. So when a segment comes down
// in turn t, it has begun t + 2 receives.
void row(const dist::trace::Trace& trace, int depth, int rank) {
  const int child = lab::tree_place(rank, ranks).children[0];
  std::vector<std::uint64_t> expected, going_down;  // as the rank's operation with this number
  for (const auto& message : dist::trace::messages(trace)) {
    if (message.source() == child && message.destination() == rank)
      expected.push_back(message.receive->sequence);
    if (message.source() == rank && message.destination() == child)
      going_down.push_back(message.send->sequence);
  }
  std::vector<std::string> cells;
  for (int turn = 0; turn < turns; ++turn) cells.push_back(fmt::format("{}, ·", turn));
  for (std::size_t segment = 0; segment < going_down.size(); ++segment) {
    const auto begun = std::ranges::count_if(expected, [&](auto at) { return at < going_down[segment]; });
    const auto turn = static_cast<std::size_t>(begun - 2);
    if (turn < cells.size()) cells[turn] = fmt::format("{}, {}", turn, segment);
  }
  fmt::print("depth {} {}\n", depth, fmt::join(cells, " | "));
}

}  // namespace

int main() {
  const auto report = run();
  for (const auto& [depth, rank] : {std::pair{0, 0}, {1, 1}, {2, 3}}) row(report.trace, depth, rank);
}
