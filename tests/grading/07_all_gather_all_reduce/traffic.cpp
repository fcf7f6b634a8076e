// Lab 07: which rank sends how much to which, and in how many rounds.
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
                  "this is a ring as well, but in the wrong direction; fix: send to rank + 1");
  } else if (std::cmp_equal(links.size(), n * (n - 1))) {
    misconception("everybody_to_everybody",
                  "every rank sends to every other rank: this takes n (n - 1) connections, and in a real "
                  "network most of these paths are long; fix: pass the chunks from neighbour to neighbour");
  } else {
    misconception("gather_and_broadcast",
                  "the chunks go to one rank and come back from it, so its port carries all of them while "
                  "the other ranks wait; fix: use a ring, in which all ports are busy in every round");
  }
}

void diagnose_bytes(std::uint64_t sent, std::uint64_t right) {
  if (sent <= right) return;
  misconception("sends_all_of_it",
                "more than one chunk per step is sent, though the next rank has most of the data already; "
                "fix: in each step, pass on the one chunk that arrived in the step before");
}

// Whether each rank exchanges once with every rank whose number differs from its own in one bit.
bool is_recursive_doubling(const judge::SimRun& done, int n) {
  const auto partners = [&](const auto& link) {
    return std::has_single_bit(static_cast<unsigned>(link.src ^ link.dst)) && link.messages == 1;
  };
  return std::has_single_bit(static_cast<unsigned>(n)) &&
         std::cmp_equal(done.report.links.size(), n * ceil_log2(n)) &&
         std::ranges::all_of(done.report.links, partners);
}

// `bytes`: the sum over all messages of an all_reduce.
void diagnose_amount(const Asked& asked, const judge::SimRun& done, std::uint64_t bytes) {
  const int n = asked.world_size();
  const auto one = asked.items[0].bytes(), links = static_cast<std::uint64_t>(n - 1);
  const auto all_to_all = static_cast<std::uint64_t>(n) * links;
  if (done.report.messages >= all_to_all && bytes >= all_to_all * one) {
    misconception(
        "gathers_everything_to_sum",
        "every rank receives the numbers of all other ranks and adds them up itself: this takes n/2 times "
        "the bytes and n times the additions; fix: send partial sums, which are as long as one input");
  } else if (is_recursive_doubling(done, n)) {
    misconception("recursive_doubling",
                  "in each of log2 n rounds every rank exchanges its partial sum with a partner, which is "
                  "recursive doubling: it takes fewer rounds but n log2 n messages; fix: make a reduce to "
                  "one rank and a broadcast from there");
  } else if (done.report.messages == 2 * links && bytes == 2 * 2 * links * one) {
    misconception("longer_on_the_way",
                  "the messages are larger than the tensor; fix: send it in its own dtype");
  }
}

// Diagnoses the sums' way up by how much each rank receives.
void diagnose_slow_reduce(const judge::SimRun& done, int n) {
  const auto received_by_0 = done.report.traffic[0].messages_received;
  std::uint64_t most = 0;
  for (const auto& of_rank : done.report.traffic) most = std::max(most, of_rank.messages_received);
  if (std::cmp_equal(received_by_0, n - 1)) {
    misconception("flat_for_a_tree",
                  "every rank sends to rank 0 directly, so the additions follow each other; fix: use a tree, "
                  "in which the ranks add on the way up");
  } else if (received_by_0 == 1 && most == 2) {
    misconception(
        "chain_for_a_tree",
        "the ranks add one after another; fix: use a tree, in which many ranks add at the same time");
  } else {
    misconception("served_in_the_wrong_order",
                  "the tree is served in the wrong order; fix: on the way up receive from the smallest "
                  "subtree first, which is ready first; on the way down send to the largest subtree first, "
                  "which has the most work left");
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
    ADD_FAILURE() << fmt::format("{}: rank {} sends to rank {}; it must send to rank {} only", asked.text(0),
                                 link.src, link.dst, (link.src + 1) % n);
    return;
  }
  for (std::size_t rank = 0; rank < done.report.traffic.size(); ++rank) {
    const auto sent = done.report.traffic[rank].bytes_sent;
    if (sent == right) continue;
    diagnose_bytes(sent, right);
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} bytes; expected n - 1 chunks of {} bytes, {}: (n - 1)/n of the output's {}",
        asked.text(0), rank, sent, part, right, static_cast<std::uint64_t>(n) * part);
    return;
  }
}

void expect_ring_rounds(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const int n = asked.world_size(), rounds = judge::rounds(done.report);
  if (rounds <= n - 1) return;
  misconception("sends_and_receives_in_turns",
                "a rank sends and receives one after the other, but its two ports can work at the same time; "
                "fix: start the receive (irecv), send, then wait, so that both take one round");
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
        "{}: {} messages of {} bytes in all; expected n - 1 messages up and n - 1 down: {} messages of {} "
        "bytes in all",
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
    misconception("an_all_reduce_for_each",
                  "two numbers are summed by two all_reduces, and each costs the overhead of every message; "
                  "fix: put both into one tensor");
  }
  ADD_FAILURE() << fmt::format(
      "{}: {} messages of {} bytes in all; expected one all_reduce of two numbers: {} messages of at most {} "
      "bytes in all",
      asked.text(0), done.report.messages, bytes, messages, 16 * messages);
}

}  // namespace lab07
