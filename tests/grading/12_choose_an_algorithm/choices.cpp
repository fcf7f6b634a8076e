// Lab 12, part 3: the chosen algorithm is compared with the one that is fastest in the simulator.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/ask.h"
#include "judge/numbers.h"
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

// Without bytes and overheads nothing takes any time, whichever formula is used. With overheads both trees
// take equally long.
Spot spot_of_equals(bool has_overhead) {
  Machine machine;
  machine.gpus = has_overhead ? 64 : 8;
  machine.within.beta = machine.between.beta = 1e-9;
  if (has_overhead) machine.within.overhead = machine.within.alpha = 1e-6;
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

Algorithm best_of(const Machine& machine, std::int64_t bytes) {
  return *std::ranges::min_element(all_algorithms, {}, [&](Algorithm a) {
    return computed({a, machine, bytes});
  });
}

// By the contract's formulas.
Spot computed_spot(const Machine& machine, std::int64_t bytes) {
  Spot found{machine, bytes, {}};
  for (const auto algorithm : all_algorithms)
    found.seconds[static_cast<std::size_t>(algorithm)] = computed({algorithm, machine, bytes});
  return found;
}

// The first size from `bytes` on, in steps of a sixteenth in this direction, at which the result is clear.
void add_clear_spot(const Machine& machine, double bytes, double step, std::vector<Spot>& spots) {
  for (int tries = 0; tries < 12; ++tries, bytes *= step) {
    const auto spot = computed_spot(machine, std::llround(bytes));
    if (spot.is_clear()) return spots.push_back(spot);
  }
}

// On both sides of each crossing from 8 bytes to 256 MiB, as close to it as the result is still clear.
void add_crossings(const Machine& machine, std::vector<Spot>& spots) {
  constexpr double step = 17.0 / 16, most = 1 << 28;
  for (double bytes = 8; bytes < most; bytes *= step) {
    if (best_of(machine, std::llround(bytes)) == best_of(machine, std::llround(bytes * step))) continue;
    add_clear_spot(machine, bytes, 1 / step, spots);
    add_clear_spot(machine, bytes * step, step, spots);
  }
}

// What the submission predicts for each algorithm; empty when it does not answer.
std::vector<double> own_predictions(const Spot& spot) {
  Json cases = Json::array();
  for (const auto algorithm : all_algorithms) {
    cases.push_back(to_json(spot));
    cases.back()["algorithm"] = static_cast<int>(algorithm);
  }
  std::vector<double> seconds;
  for (const Json& reply : judge::ask("predict", cases)) seconds.push_back(judge::real(reply));
  return seconds.size() == all_algorithms.size() ? seconds : std::vector<double>();
}

// Whether the submission's own predictions are smaller for another algorithm than for the one that it chose.
bool contradicts_itself(const Spot& spot, Algorithm got) {
  const auto own = own_predictions(spot);
  return !own.empty() && std::ranges::min(own) < own[static_cast<std::size_t>(got)] * 0.99;
}

void diagnose_choice(const Spot& spot, Algorithm got) {
  if (contradicts_itself(spot, got))
    misconception("not_the_smallest_prediction",
                  "your own predict() gives a smaller time for another algorithm; fix: compare the "
                  "predictions of all algorithms for this machine and this size, because no size is a limit "
                  "for all machines");
}

std::vector<Algorithm> ask_choices(const std::vector<Spot>& spots) {
  Json cases = Json::array();
  for (const auto& s : spots) cases.push_back(to_json(s));
  std::vector<Algorithm> got;
  for (const auto& reply : judge::ask("choose", cases)) {
    const int number = reply;
    if (number < 0 || number >= static_cast<int>(all_algorithms.size())) {
      ADD_FAILURE() << "choose: expected an algorithm; it returned the number " << number;
      return {};
    }
    got.push_back(static_cast<Algorithm>(number));
  }
  return got;
}

void fail_choice(const Spot& spot, Algorithm got, const std::string& how) {
  const auto best = *std::ranges::min_element(all_algorithms, {}, [&](Algorithm a) { return spot.of(a); });
  ADD_FAILURE() << fmt::format(
      "choose: {} bytes, {}: expected {}, which takes {:.1f} us {}; it chose {}, which takes {:.1f} us; to "
      "find "
      "the wrong formula, print what your predict() returns for both algorithms, and compare it with these "
      "times",
      spot.bytes, spot.machine.text(), name(best), spot.best() * 1e6, how, name(got), spot.of(got) * 1e6);
}

}  // namespace

void expect_choices(judge::Random& random, const std::vector<std::function<Machine()>>& machines) {
  std::vector<Spot> spots;
  for (const auto& draw : machines) {
    const auto [small, large] = pair_of_spots(random, draw);
    spots.push_back(small);
    spots.push_back(large);
  }
  const auto got = ask_choices(spots);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (spots[i].is_good(got[i])) continue;
    if (contradicts_itself(spots[i], got[i])) diagnose_choices(spots, got);
    diagnose_choice(spots[i], got[i]);
    fail_choice(spots[i], got[i], "in the simulator");
    return;
  }
}

void expect_smallest_predictions(judge::Random& random, const std::vector<Machine>& machines) {
  std::vector<Spot> spots;
  for (const auto& machine : machines) {
    add_crossings(machine, spots);
    add_clear_spot(machine, random.between(8, 1 << 24), 17.0 / 16, spots);
  }
  const auto got = ask_choices(spots);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (spots[i].is_good(got[i])) continue;
    diagnose_choice(spots[i], got[i]);
    fail_choice(spots[i], got[i], "by the contract's formulas");
    return;
  }
}

void expect_the_first_of_equals() {
  for (const bool has_overhead : {false, true}) {
    const Spot spot = spot_of_equals(has_overhead);
    const auto first = has_overhead ? Algorithm::tree : Algorithm::ring;
    const Json numbers = judge::ask("choose", Json::array({to_json(spot)}));
    if (numbers.empty()) return;
    const int number = numbers[0];
    if (number == static_cast<int>(first)) continue;
    const auto own = own_predictions(spot);
    const bool is_known = number >= 0 && std::cmp_less(number, own.size());
    const double of_first = own.empty() ? 0 : own[static_cast<std::size_t>(first)],
                 of_got = is_known ? own[static_cast<std::size_t>(number)] : 0;
    // Only rounding makes one of these smaller than the other.
    if (is_known && of_got < of_first && of_first - of_got < 1e-9 * of_first) continue;
    if (is_known && of_got == of_first && number > static_cast<int>(first))
      misconception(
          "last_of_equals",
          "your own predict() gives both the same time, and choose must return the first of them in "
          "all_algorithms, because all ranks must choose the same one");
    else if (is_known)
      diagnose_choice(spot, static_cast<Algorithm>(number));
    ADD_FAILURE() << fmt::format(
        "choose: {} bytes, {}: {} take equally long, and nothing takes less; expected the first of them; it "
        "returned the number {}{}",
        spot.bytes, spot.machine.text(),
        has_overhead ? "tree and double_tree (numbers 1 and 2)"
                     : "all six algorithms, from ring (number 0) on,",
        number,
        is_known
            ? fmt::format(" (your predict() gives {} s for it, and {} s for the first)", of_got, of_first)
            : "");
    return;
  }
}

}  // namespace lab12
