// Lab 07: who sends how much to whom, and in how many rounds.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab07 {
namespace {

using judge::misconception;

int ceil_log2(int n) {
  int rounds = 0;
  while ((1 << rounds) < n) ++rounds;
  return rounds;
}

void diagnose_links(const judge::SimRun& done, int n) {
  const auto& links = done.report.links;
  if (std::ranges::all_of(links, [&](const auto& link) { return link.src == (link.dst + 1) % n; })) {
    misconception("ring_the_other_way",
                  "that is a ring as well, and not the one of the contract: send to rank + 1");
  } else if (std::cmp_equal(links.size(), n * (n - 1))) {
    misconception(
        "everybody_to_everybody",
        "every rank sends to every other: as many bytes, but n (n - 1) connections, and on a real network "
        "most of these ways are long. In a ring the parts go from neighbour to neighbour");
  } else {
    misconception(
        "gather_and_broadcast",
        "the parts go to one rank and come back from there: its port carries all of them, and the others "
        "wait. In a ring all ports are busy in every round");
  }
}

void diagnose_bytes(std::uint64_t sent, std::uint64_t right) {
  if (sent <= right) return;
  misconception(
      "sends_all_of_it",
      "more than one part a step is sent: what the next rank has already need not go there again. A step "
      "passes on the one part that came in the step before");
}

// In each round with the rank that differs in one bit of its number, there and back.
bool is_recursive_doubling(const judge::SimRun& done, int n) {
  const auto partners = [&](const auto& link) {
    return std::has_single_bit(static_cast<unsigned>(link.src ^ link.dst)) && link.messages == 1;
  };
  return std::has_single_bit(static_cast<unsigned>(n)) &&
         std::cmp_equal(done.report.links.size(), n * ceil_log2(n)) &&
         std::ranges::all_of(done.report.links, partners);
}

// `bytes`: of all messages of an all_reduce.
void diagnose_amount(const Asked& asked, const judge::SimRun& done, std::uint64_t bytes) {
  const int n = asked.world_size();
  const auto one = asked.items[0].bytes(), links = static_cast<std::uint64_t>(n - 1);
  const auto all_to_all = static_cast<std::uint64_t>(n) * links;
  if (done.report.messages >= all_to_all && bytes >= all_to_all * one) {
    misconception(
        "gathers_everything_to_sum",
        "every rank gets the numbers of all others to add them up itself: n/2 times the bytes and n times "
        "the additions. A partial sum is as long as one input");
  } else if (is_recursive_doubling(done, n)) {
    misconception(
        "recursive_doubling",
        "in each of log2 n rounds every rank exchanges its partial sum with a partner, which is known as "
        "recursive doubling: fewer rounds, and n log2 n messages. Asked for here is a reduce to one rank and "
        "a broadcast from there");
  } else if (done.report.messages == 2 * links && bytes == 2 * 2 * links * one) {
    misconception("longer_on_the_way", "the messages are longer than the tensor: send it in its own dtype");
  }
}

// Of the sums' way up, by who receives how much.
void diagnose_slow_reduce(const judge::SimRun& done, int n) {
  const auto received_by_0 = done.report.traffic[0].messages_received;
  std::uint64_t most = 0;
  for (const auto& of_rank : done.report.traffic) most = std::max(most, of_rank.messages_received);
  if (std::cmp_equal(received_by_0, n - 1)) {
    misconception(
        "flat_for_a_tree",
        "everybody sends to rank 0 itself, one after the other: in a tree the ranks add on the way up");
  } else if (received_by_0 == 1 && most == 2) {
    misconception("chain_for_a_tree", "one rank after the other: in a tree many add at the same time");
  } else {
    misconception(
        "served_in_the_wrong_order",
        "the tree is served in the wrong order: on the way up the smallest subtree is ready first, on the "
        "way down the largest one has the most to do");
  }
}

}  // namespace

void expect_ring_traffic(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const int n = asked.world_size();
  const auto part = asked.items[0].bytes(), right = static_cast<std::uint64_t>(n - 1) * part;
  for (const auto& link : done.report.links) {
    if (link.dst == (link.src + 1) % n) continue;
    diagnose_links(done, n);
    ADD_FAILURE() << fmt::format("{}: rank {} sends to rank {}; expected that it sends to rank {} only",
                                 asked.text(0), link.src, link.dst, (link.src + 1) % n);
    return;
  }
  for (std::size_t rank = 0; rank < done.report.traffic.size(); ++rank) {
    const auto sent = done.report.traffic[rank].bytes_sent;
    if (sent == right) continue;
    diagnose_bytes(sent, right);
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} bytes; expected n - 1 parts of {} bytes, {}: (n - 1)/n of the output's {}",
        asked.text(0), rank, sent, part, right, static_cast<std::uint64_t>(n) * part);
    return;
  }
}

void expect_ring_rounds(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const int n = asked.world_size(), rounds = judge::rounds(done.report);
  if (rounds <= n - 1) return;
  misconception(
      "sends_and_receives_in_turns",
      "a rank's send and its receive use two ports: start the receive (irecv), send, then wait, and both "
      "take one round");
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected n - 1 = {}", asked.text(0), rounds, n - 1);
}

void expect_reduce_and_broadcast(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const int n = asked.world_size(), limit = 2 * ceil_log2(n), rounds = judge::rounds(done.report);
  const auto messages = static_cast<std::uint64_t>(2 * (n - 1)), right = messages * asked.items[0].bytes();
  std::uint64_t bytes = 0;
  for (const auto& of_rank : done.report.traffic) bytes += of_rank.bytes_sent;
  if (bytes != right || done.report.messages != messages) {
    diagnose_amount(asked, done, bytes);
    ADD_FAILURE() << fmt::format(
        "{}: {} messages of {} bytes in all; expected n - 1 up and n - 1 down, {} of {} bytes in all",
        asked.text(0), done.report.messages, bytes, messages, right);
    return;
  }
  if (rounds <= limit) return;
  diagnose_slow_reduce(done, n);
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most 2 ceil(log2 {}) = {}", asked.text(0),
                               rounds, n, limit);
}

void expect_one_all_reduce(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto n = static_cast<std::uint64_t>(asked.world_size()), messages = 2 * (n - 1);
  std::uint64_t bytes = 0;
  for (const auto& of_rank : done.report.traffic) bytes += of_rank.bytes_sent;
  if (done.report.messages == messages && bytes <= 16 * messages) return;
  if (done.report.messages == 2 * messages) {
    misconception(
        "an_all_reduce_for_each",
        "two numbers, two all_reduces: both pay the start of every message. Put them into one tensor");
  }
  ADD_FAILURE() << fmt::format(
      "{}: {} messages of {} bytes in all; expected one all_reduce of two numbers: {} of at most {} bytes "
      "in all",
      asked.text(0), done.report.messages, bytes, messages, 16 * messages);
}

}  // namespace lab07
