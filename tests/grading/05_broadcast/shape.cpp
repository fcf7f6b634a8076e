// Lab 05, parts 1 to 3: which rank sends how much to which, and in how many rounds.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab05 {

// Runs one broadcast. Returns false, and the test has failed, if its values are wrong already.
bool run_in_rounds(const Asked& asked, judge::SimRun& done, const judge::Watch& sent = {});

namespace {

using judge::misconception;

std::string heading(const Asked& asked) {
  return fmt::format("{} among {} ranks from root {}", asked.call, asked.world_size(), asked.rounds[0].root);
}

// The longest path from the root along the links, and the largest number of receivers of one rank.
struct Form {
  int depth = 0, widest = 0;
};

Form form_of(const judge::SimRun& done, int root) {
  std::vector<int> receivers(done.ranks.size(), 0);
  for (const auto& link : done.report.links) ++receivers[static_cast<std::size_t>(link.src)];
  return {std::ranges::max(judge::depths(done, root)), std::ranges::max(receivers)};
}

void diagnose_slow_tree(const Form& form, int n) {
  if (form.widest == n - 1) {
    misconception("flat_for_a_tree",
                  "the root sends to every rank itself; fix: let every rank that has the data pass it on");
  } else if (form.depth == n - 1) {
    misconception("chain_for_a_tree",
                  "each rank passes the data on to one other rank only; fix: send the data in every round "
                  "from every rank that has it");
  } else if (form.depth > ceil_log2(n)) {
    misconception("tree_too_deep", "the path from the root to some rank has more than ceil(log2 n) links");
  } else {
    misconception("smallest_subtree_first",
                  "the tree is right, but its children are served in the wrong order; fix: send first to the "
                  "child with the largest subtree, because it has the most work left");
  }
}

// Each rank except the root receives once; the root receives nothing.
bool check_one_message_each(const judge::SimRun& done, const Asked& asked) {
  const int n = asked.world_size(), root = asked.rounds[0].root;
  for (int rank = 0; rank < n; ++rank) {
    const auto received = done.report.traffic[static_cast<std::size_t>(rank)].messages_received;
    const std::uint64_t expected = rank == root ? 0 : 1;
    if (received == expected) continue;
    ADD_FAILURE() << fmt::format("{}: rank {} receives {} messages; it must receive {}", heading(asked), rank,
                                 received, expected);
    return false;
  }
  return true;
}

void diagnose_link(const dist::sim::LinkTraffic& link, const Round& round, int n) {
  const int next = (link.src + 1) % n;
  if (link.dst == round.root) {
    misconception("ring_for_a_chain",
                  "the rank before the root sends to the root, which has the data already; fix: end the "
                  "chain at that rank");
  } else if (link.src == round.root && link.dst != next) {
    misconception("root_serves_everybody",
                  "the root sends to more ranks than its successor, so the data leaves its one port several "
                  "times; fix: send to the successor only");
  } else if (link.dst != next) {
    misconception("not_the_successor",
                  "a rank of the chain must send to the rank after it and to no other rank");
  }
}

// Elements of each message of a rank of the chain.
std::vector<int> segments_of(const Round& round) {
  std::vector<int> lengths;
  for (int left = round.elements(); left > 0; left -= round.segment)
    lengths.push_back(std::min(left, round.segment));
  return lengths;
}

void diagnose_segments(std::vector<int> got, const Round& round) {
  const int all = round.elements(), m = round.messages();
  std::vector<int> equal;
  for (int k = 0; k < m; ++k) equal.push_back(all * (k + 1) / m - all * k / m);
  auto with_none = segments_of(round);
  with_none.push_back(0);
  std::ranges::sort(equal);
  if (got == with_none)
    misconception(
        "sends_an_empty_segment",
        "after the last element one more message is sent, without any; fix: ceil(numel / segment) is "
        "numel / segment where the division leaves no rest");
  std::ranges::sort(got);
  if (got == equal)
    misconception("equal_segments",
                  "the data is cut into parts of equal length; another rank that cuts as the contract says "
                  "would not understand them; fix: send `segment` elements per message, and in the last one "
                  "what is left");
}

}  // namespace

void expect_root_sends_all(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done) || !check_one_message_each(done, asked)) return;
  const int n = asked.world_size(), root = asked.rounds[0].root;
  for (const auto& link : done.report.links) {
    if (link.src == root) continue;
    misconception(
        "not_flat",
        "this part asks for a flat broadcast: one rank sends to all others; trees come in the next parts");
    ADD_FAILURE() << fmt::format("{}: rank {} sends to rank {}; only the root may send", heading(asked),
                                 link.src, link.dst);
    return;
  }
  const int rounds = judge::rounds(done.report);
  if (rounds == n - 1) return;
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected {}, one per message of the root", heading(asked),
                               rounds, n - 1);
}

void expect_a_tree(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done) || !check_one_message_each(done, asked)) return;
  const int n = asked.world_size(), rounds = judge::rounds(done.report), limit = ceil_log2(n);
  if (rounds <= limit) return;
  const auto form = form_of(done, asked.rounds[0].root);
  diagnose_slow_tree(form, n);
  ADD_FAILURE() << fmt::format(
      "{} took {} rounds; expected at most ceil(log2 {}) = {}. The longest path from the root has {} links, "
      "and one rank sends to {} others",
      heading(asked), rounds, n, limit, form.depth, form.widest);
}

void expect_a_chain(const Asked& asked) {
  judge::SimRun done;
  const auto& round = asked.rounds[0];
  const int n = asked.world_size();
  std::vector<std::vector<int>> sent(static_cast<std::size_t>(n));
  const auto watch = [&](int rank, std::chrono::nanoseconds, std::span<const std::byte> bytes) {
    sent[static_cast<std::size_t>(rank)].push_back(static_cast<int>(bytes.size() / 4));
  };
  if (!run_in_rounds(asked, done, watch)) return;
  const auto bytes = static_cast<std::uint64_t>(round.bytes());
  for (const auto& link : done.report.links) {
    diagnose_link(link, round, n);
    if (link.dst == (link.src + 1) % n && link.dst != round.root && link.bytes == bytes) continue;
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} bytes to rank {}; each rank must send {} bytes to its successor and nothing to "
        "other ranks, and the last rank must send nothing",
        heading(asked), link.src, link.bytes, link.dst, bytes);
    return;
  }
  const auto right = segments_of(round);
  for (int rank = 0; rank < n; ++rank) {
    const auto& got = sent[static_cast<std::size_t>(rank)];
    if (rank == (round.root + n - 1) % n || got == right) continue;
    diagnose_segments(got, round);
    ADD_FAILURE() << fmt::format(
        "{}, {} elements in segments of {}: rank {} must send messages of {{{}}} elements; it sends {{{}}}",
        heading(asked), round.elements(), round.segment, rank, fmt::join(right, ", "), fmt::join(got, ", "));
    return;
  }
}

void expect_pipelined(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto& round = asked.rounds[0];
  const int n = asked.world_size(), rounds = judge::rounds(done.report);
  const auto what =
      fmt::format("{}, {} elements in segments of {}", heading(asked), round.elements(), round.segment);
  for (const auto& link : done.report.links) {
    const auto expected = static_cast<std::uint64_t>(round.messages());
    diagnose_link(link, round, n);
    if (link.messages == expected) continue;
    if (link.messages == 1) {
      misconception("not_in_segments",
                    "the whole data is sent in one message, so the next rank can pass nothing on before the "
                    "last byte has arrived; fix: send it in segments");
    }
    ADD_FAILURE() << fmt::format("{}: rank {} sends rank {} {} messages; expected {}", what, link.src,
                                 link.dst, link.messages, expected);
    return;
  }
  const int limit = n - 2 + round.messages();
  if (rounds <= limit) return;
  misconception(
      "waits_before_the_next_segment",
      "a rank receives and sends alternately, so its port is idle half of the time; fix: start sending a "
      "segment with isend while the next one is being received, and wait for all sends at the end");
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most n - 2 + segments = {}", what, rounds,
                               limit);
}

}  // namespace lab05
