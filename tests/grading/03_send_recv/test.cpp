// The grading of lab 03. The grader is the network between the ranks: it sees every message, knows which rank
// waits for which, counts rounds, and runs everything twice: with sends that wait for their receivers and
// with eager sends.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using Ranks = std::vector<int>;

// ------------------------------------------------------------------------------------------- part 1: relay

TEST(Part1Relay, two_ranks) {
  worth(5, 1);
  Random random("relay of two");
  lab03::expect_relay(random, 2, random.between(3, 9));
}

TEST(Part1Relay, doubles_on_the_way) {
  worth(10, 1);
  Random random("relay");
  for (const int ranks : {random.between(3, 5), random.between(6, 9)}) {
    lab03::expect_relay(random, ranks, random.between(3, 40));
    if (HasFailure()) return;
  }
}

TEST(Part1Relay, alone_or_empty_handed) {
  worth(5, 1);
  Random random("relay, small");
  lab03::expect_relay(random, 1, 3);
  if (!HasFailure()) lab03::expect_relay(random, random.between(3, 5), 0);
}

// ---------------------------------------------------------------------------------------- part 2: exchange

TEST(Part2Exchange, two_ranks_swap) {
  worth(10, 2);
  Random random("swap");
  lab03::expect_exchange(random, {1, 0}, random.between(3, 40));
  if (!HasFailure()) lab03::expect_exchange(random, {1, 0}, 0);
}

TEST(Part2Exchange, whoever_the_partners_are) {
  worth(10, 2);
  Random random("partners");
  lab03::expect_exchange(random, lab03::draw_partners(random, 9), random.between(3, 9));
  if (!HasFailure()) lab03::expect_exchange(random, lab03::draw_partners(random, 6), random.between(3, 9));
}

TEST(Part2Exchange, with_itself) {
  worth(5, 2);
  Random random("itself");
  lab03::expect_exchange(random, {0}, random.between(3, 9));
  if (!HasFailure()) lab03::expect_exchange(random, {0, 1, 2}, random.between(3, 9));
}

TEST(Part2Exchange, blocks_for_two_rounds) {
  worth(5, 2);
  Random random("exchange rounds");
  lab03::expect_exchange_rounds(random, lab03::draw_partners(random, random.between(6, 9)));
}

// -------------------------------------------------------------------------------------- part 3: ring_shift

TEST(Part3Ring, even_rings) {
  worth(8, 3);
  Random random("even ring");
  for (const int ranks : {2, 2 * random.between(2, 4)}) {
    lab03::expect_ring_shift(random, ranks, random.between(3, 40));
    if (HasFailure()) return;
  }
}

TEST(Part3Ring, odd_rings) {
  worth(8, 3);
  Random random("odd ring");
  for (const int ranks : {3, 2 * random.between(2, 4) + 1}) {
    lab03::expect_ring_shift(random, ranks, random.between(3, 40));
    if (HasFailure()) return;
  }
}

TEST(Part3Ring, a_ring_of_one) {
  worth(4, 3);
  Random random("ring of one");
  lab03::expect_ring_shift(random, 1, random.between(3, 9));
}

TEST(Part3Ring, empty_tensors) {
  worth(2, 3);
  Random random("empty ring");
  lab03::expect_ring_shift(random, random.between(3, 5), 0);
}

TEST(Part3Ring, at_most_three_rounds) {
  worth(8, 3);
  Random random("ring rounds");
  for (const int ranks : {9, 8, 3, 2}) {
    lab03::expect_ring_rounds(random, ranks);
    if (HasFailure()) return;
  }
}

// -------------------------------------------------------------------------------------- part 4: wait_cycle

// This many ranks, chosen at random from `all`, wait for each other in a cycle; the others stay as they were.
void close_a_cycle(Ranks& waits_for, const Ranks& all, int first, int length) {
  for (int i = 0; i < length; ++i) {
    const auto at = [&](int place) { return all[static_cast<std::size_t>(first + place % length)]; };
    waits_for[static_cast<std::size_t>(at(i))] = at(i + 1);
  }
}

// Some ranks wait for a rank that comes later in a hidden order, some are not blocked: there is no cycle.
Ranks draw_acyclic(Random& random, Ranks& order, int ranks) {
  order.resize(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  Ranks waits_for(order.size(), -1);
  for (int i = 0; i + 1 < ranks; ++i) {
    const int later = order[static_cast<std::size_t>(random.between(i + 1, ranks - 1))];
    if (random.between(0, 3) != 0)
      waits_for[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = later;
  }
  return waits_for;
}

TEST(Part4WaitCycle, everybody_is_in_it) {
  worth(6, 4);
  Random random("cycle of all");
  std::vector<Ranks> cases{{1, 0}, {1, 2, 0}};
  for (int i = 0; i < 20; ++i) {
    Ranks order;
    cases.push_back(draw_acyclic(random, order, random.between(2, 9)));
    close_a_cycle(cases.back(), order, 0, static_cast<int>(order.size()));
  }
  lab03::expect_cycles(cases);
}

TEST(Part4WaitCycle, others_wait_for_it) {
  worth(6, 4);
  Random random("cycle with tails");
  std::vector<Ranks> cases{{1, 2, 1}, {2, 0, 3, 4, 2}};
  for (int i = 0; i < 40; ++i) {
    Ranks order;
    const int ranks = random.between(4, 12);
    cases.push_back(draw_acyclic(random, order, ranks));
    const int length = random.between(2, ranks - 1);
    close_a_cycle(cases.back(), order, ranks - length, length);
  }
  lab03::expect_cycles(cases);
}

TEST(Part4WaitCycle, there_is_none) {
  worth(4, 4);
  Random random("no cycle");
  std::vector<Ranks> cases{{}, {-1}, {1, -1}, {-1, -1, -1}, {-1, 0, 1, 2}};
  for (int i = 0; i < 20; ++i) {
    Ranks order;
    cases.push_back(draw_acyclic(random, order, random.between(2, 12)));
  }
  lab03::expect_cycles(cases);
}

TEST(Part4WaitCycle, itself_or_several) {
  worth(4, 4);
  Random random("small and several cycles");
  std::vector<Ranks> cases{{0}, {-1, 1}, {1, 1}, {4, 3, 3, 2, 4}};
  for (int i = 0; i < 20; ++i) {
    Ranks order;
    const int ranks = random.between(4, 12), half = ranks / 2;
    cases.push_back(draw_acyclic(random, order, ranks));
    close_a_cycle(cases.back(), order, 0, random.between(1, half));
    close_a_cycle(cases.back(), order, half, random.between(1, ranks - half));
  }
  lab03::expect_cycles(cases);
}

}  // namespace
