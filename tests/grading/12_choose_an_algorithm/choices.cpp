// Lab 12, part 3: the chosen algorithm is compared with the one that is fastest in the simulator.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/ask.h"
#include "judge/trouble.h"
#include "support.h"

namespace lab12 {
namespace {

using judge::misconception;

constexpr std::array all_algorithms{Algorithm::ring,        Algorithm::tree,
                                    Algorithm::double_tree, Algorithm::parameter_server,
                                    Algorithm::naive,       Algorithm::hierarchical};

// One machine and one size, with the simulated time of every algorithm.
struct Spot {
  Machine machine;
  std::int64_t bytes;
  std::array<double, all_algorithms.size()> seconds;

  double best() const { return std::ranges::min(seconds); }
  double of(Algorithm algorithm) const { return seconds[static_cast<std::size_t>(algorithm)]; }
  bool is_good(Algorithm algorithm) const { return of(algorithm) <= 1.05 * best(); }
  // The right formulas agree with the simulator, and no algorithm's time is between good and bad.
  bool is_clear() const {
    const auto said = [&](Algorithm a) { return computed({a, machine, bytes}); };
    if (!is_good(*std::ranges::min_element(all_algorithms, {}, said))) return false;
    return std::ranges::none_of(seconds, [&](double s) { return s > 1.05 * best() && s < 1.2 * best(); });
  }
};

Spot spot(const Machine& machine, std::int64_t bytes) {
  Spot found{machine, bytes, {}};
  for (const auto algorithm : all_algorithms)
    found.seconds[static_cast<std::size_t>(algorithm)] = simulated({algorithm, machine, bytes});
  return found;
}

bool want_the_same(const Spot& a, const Spot& b) {
  return std::ranges::any_of(all_algorithms, [&](Algorithm one) { return a.is_good(one) && b.is_good(one); });
}

// On this machine nothing takes any time, whichever formula is used.
Spot spot_of_equals() {
  Machine machine;
  machine.gpus = 8;
  machine.within.beta = machine.between.beta = 1e-9;
  return {machine, 0, {}};
}

// A small and a large size that have clear results and need different algorithms. A machine without such
// sizes is replaced by another random one.
std::pair<Spot, Spot> pair_of_spots(judge::Random& random, const std::function<Machine()>& draw) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const Machine machine = draw();
    const auto small = spot(machine, std::int64_t{8} << random.between(0, 8));
    const auto large = spot(machine, std::int64_t{1 << 20} << random.between(0, 4));
    if (small.is_clear() && large.is_clear() && !want_the_same(small, large)) return {small, large};
  }
  throw judge::Trouble("no random machine needs different algorithms for different sizes");
}

Json to_json(const Spot& s) {
  const auto costs = [](const Costs& c) { return Json::array({c.alpha, c.overhead, c.beta}); };
  return {{"text", fmt::format("choose: {} bytes, {}", s.bytes, s.machine.text())},
          {"nodes", s.machine.nodes},
          {"gpus", s.machine.gpus},
          {"within", costs(s.machine.within)},
          {"between", costs(s.machine.between)},
          {"bytes", s.bytes}};
}

void diagnose_choices(const std::vector<Spot>& spots, const std::vector<Algorithm>& got) {
  bool never_changes = true, no_hierarchy = false;
  for (std::size_t i = 0; i < spots.size(); i += 2) {
    never_changes = never_changes && got[i] == got[i + 1];
    for (const auto at : {i, i + 1}) {
      const bool wants_hierarchy = spots[at].machine.nodes > 1 && spots[at].is_good(Algorithm::hierarchical);
      no_hierarchy = no_hierarchy || (wants_hierarchy && got[at] == Algorithm::ring);
    }
  }
  if (never_changes) {
    misconception("size_ignored",
                  "the same algorithm was chosen for a few bytes and for many: the number of ranks alone "
                  "does not decide; small messages need few message overheads on the critical path, large "
                  "ones few bytes at each port");
  } else if (no_hierarchy) {
    misconception("flat_ring_over_nodes",
                  "a ring through all GPUs of several nodes runs at the speed of the links between nodes; "
                  "the hierarchical algorithm keeps most of the data within the nodes");
  }
}

}  // namespace

void expect_choices(judge::Random& random, const std::vector<std::function<Machine()>>& machines) {
  std::vector<Spot> spots;
  Json cases = Json::array();
  for (const auto& draw : machines) {
    const auto [small, large] = pair_of_spots(random, draw);
    for (const auto& s : {small, large}) {
      spots.push_back(s);
      cases.push_back(to_json(s));
    }
  }
  const auto replies = judge::ask("choose", cases);
  std::vector<Algorithm> got;
  for (const auto& reply : replies) {
    const int number = reply;
    if (number < 0 || number >= static_cast<int>(all_algorithms.size())) {
      ADD_FAILURE() << "choose: expected an algorithm; it returned the number " << number;
      return;
    }
    got.push_back(static_cast<Algorithm>(number));
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (spots[i].is_good(got[i])) continue;
    diagnose_choices(spots, got);
    const auto best =
        *std::ranges::min_element(all_algorithms, {}, [&](Algorithm a) { return spots[i].of(a); });
    ADD_FAILURE() << fmt::format(
        "choose: {} bytes, {}: expected {}, which takes {:.1f} us in the simulator; it chose {}, which takes "
        "{:.1f} us",
        spots[i].bytes, spots[i].machine.text(), name(best), spots[i].best() * 1e6, name(got[i]),
        spots[i].of(got[i]) * 1e6);
    return;
  }
}

void expect_the_first_of_equals() {
  const Spot spot = spot_of_equals();
  const int number = judge::ask("choose", Json::array({to_json(spot)})).at(0);
  if (number == static_cast<int>(Algorithm::ring)) return;
  misconception("last_of_equals",
                "if several algorithms take equally long, choose must return the first of them in "
                "all_algorithms, because all ranks must choose the same one");
  ADD_FAILURE() << fmt::format(
      "choose: {} bytes, {}: all six algorithms take 0 s; expected the first of them, ring; it returned the "
      "number {}",
      spot.bytes, spot.machine.text(), number);
}

}  // namespace lab12
