// Messages that share something wait for each other; those that share nothing do not. Each expectation is
// worked out by hand above it.
#include <gtest/gtest.h>

#include "unit/sim/simulate.h"

namespace dist::test {
namespace {

constexpr double us = 1e-6;
// Two GPUs and one network card per node. A message of 1000 bytes holds its ports for 1 us + 1000 * 1 ns = 2
// us inside a node and arrives 3 us later; between nodes it holds them for 1 us + 1000 * 4 ns = 5 us, and
// arrives 7 us later.
constexpr double hold_in = 2 * us, way_in = 3 * us, hold_out = 5 * us, way_out = 7 * us;

sim::Topology two_a_node(int cards) {
  sim::Topology t;
  t.gpus_per_node = 2;
  t.nics_per_node = cards;
  t.overhead_s = 1 * us;
  t.intra = {3 * us, 1e9};
  t.inter = {7 * us, 0.25e9};
  return t;
}

struct Message {
  int from, to;
};

// All are posted at time 0, sends and receives in this order; the seconds until all have arrived.
double seconds_of(int ranks, const std::vector<Message>& messages, const sim::Topology& topology) {
  return simulate(topology, ranks, [&](Transport& net) {
    Tensor data = zeros({1000}, DType::u8);
    std::vector<Request> requests;
    for (const auto& [from, to] : messages) {
      if (net.rank() == from) requests.push_back(net.isend(data.flat(), to));
      if (net.rank() == to) requests.push_back(net.irecv(data.flat(), from));
    }
    for (Request& request : requests) request.wait();
  });
}

// A single message: the port is held, then the latency passes.
TEST(Contention, AMessageAlone) {
  EXPECT_NEAR(seconds_of(4, {{0, 1}}, two_a_node(1)), hold_in + way_in, 1e-12);
  EXPECT_NEAR(seconds_of(4, {{0, 2}}, two_a_node(1)), hold_out + way_out, 1e-12);
}

// Ranks 0 and 1 send to rank 2 by one card each way: its card, and rank 2's receive port, take one after the
// other, so the second starts after 5 us and arrives at 5 + 5 + 7.
TEST(Contention, TwoSendersToOneReceiver) {
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {1, 2}}, two_a_node(1)), 2 * hold_out + way_out, 1e-12);
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {1, 2}}, two_a_node(2)), 2 * hold_out + way_out,
              1e-12);  // the port alone
}

// 0 -> 2 and 1 -> 3: four ports, all different. With one card per node the second waits for the first (5 us);
// with two cards nothing is shared.
TEST(Contention, TwoRanksOfANodeShareItsCard) {
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {1, 3}}, two_a_node(1)), 2 * hold_out + way_out, 1e-12);
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {1, 3}}, two_a_node(2)), hold_out + way_out, 1e-12);
}

// 0 -> 2 and 3 -> 1: one message out of each card and one in; cards and ports work both ways at once.
TEST(Contention, CardsAreFullDuplex) {
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {3, 1}}, two_a_node(1)), hold_out + way_out, 1e-12);
}

// Two ranks swap: each sends and receives at the same time.
TEST(Contention, MessagesThatCross) {
  EXPECT_NEAR(seconds_of(2, {{0, 1}, {1, 0}}, two_a_node(1)), hold_in + way_in, 1e-12);
}

// Rank 0 sends n-1 messages through its one port: the last leaves after n-1 holds.
TEST(Contention, ARootPaysForEveryReceiver) {
  std::vector<Message> all;
  for (int rank = 1; rank < 9; ++rank) all.push_back({0, rank});
  sim::Topology flat = two_a_node(1);
  flat.gpus_per_node = flat.nics_per_node = 0;
  EXPECT_NEAR(seconds_of(9, all, flat), 8 * hold_in + way_in, 1e-12);
}

// The GPU link and the card are different things: 0 -> 1 inside and 1 -> 2 outside share no port (rank 1
// receives on one and sends on the other), so both start at once and the longer one counts, 5 + 7 us.
TEST(Contention, AGpuLinkAndACardAtOnce) {
  EXPECT_NEAR(seconds_of(4, {{0, 1}, {1, 2}}, two_a_node(1)), hold_out + way_out, 1e-12);
}

// Rank 0 sends both messages through its only send port. 0 -> 1 leaves at 2 us, then 0 -> 2 holds until 7 us
// and arrives at 14 us. The other way round 0 -> 2 holds until 5 us and arrives at 12 us, 0 -> 1 until 7 us,
// arriving at 10.
TEST(Contention, AGpuLinkAndACardOfOneRank) {
  EXPECT_NEAR(seconds_of(4, {{0, 1}, {0, 2}}, two_a_node(1)), hold_in + hold_out + way_out, 1e-12);
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {0, 1}}, two_a_node(1)), hold_out + way_out, 1e-12);
}

// First in, first out: 0 -> 2 holds rank 2's receive port and both cards until 5 us. 3 -> 2 is inside the
// node, but its port is that of rank 2: it starts at 5 us and arrives at 5 + 2 + 3; 0's message at 12 us is
// the last. 1 -> 3 wants the cards: it starts at 5 us and arrives at 5 + 5 + 7.
TEST(Contention, FirstComeFirstServed) {
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {3, 2}}, two_a_node(1)), hold_out + way_out, 1e-12);
  EXPECT_NEAR(seconds_of(4, {{0, 2}, {3, 2}, {1, 3}}, two_a_node(1)), 2 * hold_out + way_out, 1e-12);
}

}  // namespace
}  // namespace dist::test
