// show scale: the latency of one small all-reduce as the machine grows.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "distlab/show/scene.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"

namespace distlab::show {
namespace {

struct Line {
  int ranks;
  double ring_s, tree_s;
};

double simulated(const std::string& algorithm, int ranks, const dist::sim::Topology& topology) {
  return dist::sim::simulate_collective({dist::OpKind::all_reduce, algorithm, ranks, 8}, topology)
      .virtual_time_s;
}

// Returns a bar on a logarithmic scale that starts at 1 us, with six columns per decade.
std::string bar(double seconds, Style style) {
  const int columns = std::max(1, static_cast<int>(std::lround(6 * std::log10(seconds / 1e-6))));
  std::string text;
  for (int i = 0; i < columns; ++i) text += "█";
  return styled(style, text);
}

std::string time_of(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6) : fmt::format("{:.2f} ms", seconds * 1e3);
}

}  // namespace

dist::trace::Trace scale() {
  const auto summit = dist::sim::load_topology("summit");
  say(
      fmt::format("All-reduce of 8 bytes on a machine like Summit, with six GPUs per node. Every message is "
                  "simulated, with "
                  "the same code that runs on this computer. Bars are logarithmic: {} columns more mean ten "
                  "times the time.",
                  6));
  fmt::print("\n");
  Line last{};
  for (const int ranks : {6, 24, 96, 384, 1536}) {
    Waiting waiting(fmt::format("  simulating {} ranks", ranks));
    last = {ranks, simulated("ring", ranks, summit), simulated("tree", ranks, summit)};
    waiting.clear();
    fmt::print("  {:>6} ranks   ring {:>10}  {}\n", ranks, time_of(last.ring_s),
               bar(last.ring_s, Style::warn));
    fmt::print("  {:>6}         tree {:>10}  {}\n\n", "", time_of(last.tree_s),
               bar(last.tree_s, Style::good));
  }
  // The ring's messages follow each other, so its time can be extrapolated in proportion to their number.
  const double ring_s = last.ring_s * (24'576 - 1) / (last.ranks - 1);
  say(fmt::format(
      "A ring takes 2(n-1) messages in sequence, a tree about 2 log2 n. On 24,576 GPUs the ring takes {} "
      "(extrapolated from n = {} in proportion to n - 1). To simulate it: ./distlab sim --headline",
      time_of(ring_s), last.ranks));
  return {};
}

}  // namespace distlab::show
