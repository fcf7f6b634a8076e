// Lab 05, parts 1 to 3: who sends how much to whom, and in how many rounds.
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab05 {

// Of one broadcast; false, and the test has failed, when its values are wrong already.
bool run_in_rounds(const Asked& asked, judge::SimRun& done);

namespace {

using judge::misconception;

std::string heading(const Asked& asked) {
  return fmt::format("{} among {} ranks from root {}", asked.call, asked.world_size(), asked.rounds[0].root);
}

// The longest way from the root along the links, and the most receivers of one rank.
struct Form {
  int depth = 0, widest = 0;
};

Form form_of(const judge::SimRun& done, int root) {
  Form form;
  std::vector<int> depth(done.ranks.size(), -1), receivers(done.ranks.size(), 0);
  depth[static_cast<std::size_t>(root)] = 0;
  for (const auto& link : done.report.links)
    form.widest = std::max(form.widest, ++receivers[static_cast<std::size_t>(link.src)]);
  for (std::size_t pass = 0; pass < depth.size(); ++pass) {  // links are in no particular order
    for (const auto& link : done.report.links) {
      const int above = depth[static_cast<std::size_t>(link.src)];
      int& below = depth[static_cast<std::size_t>(link.dst)];
      if (above >= 0 && below < 0) form.depth = std::max(form.depth, below = above + 1);
    }
  }
  return form;
}

void diagnose_slow_tree(const Form& form, int n) {
  if (form.widest == n - 1) {
    misconception("flat_for_a_tree",
                  "the root sends to everybody itself: whoever has the data should pass it on meanwhile");
  } else if (form.depth == n - 1) {
    misconception("chain_for_a_tree",
                  "each rank passes the data on to one other: in every round all that have it should send");
  } else if (form.depth > ceil_log2(n)) {
    misconception("tree_too_deep", "the way from the root to the last rank is longer than ceil(log2 n)");
  } else {
    misconception(
        "smallest_subtree_first",
        "the tree is right and served in the wrong order: the child with the largest subtree has the most "
        "work before it, so it must be sent to first");
  }
}

// Each rank but the root receives once; the root never.
bool check_one_message_each(const judge::SimRun& done, const Asked& asked) {
  const int n = asked.world_size(), root = asked.rounds[0].root;
  for (int rank = 0; rank < n; ++rank) {
    const auto received = done.report.traffic[static_cast<std::size_t>(rank)].messages_received;
    const std::uint64_t expected = rank == root ? 0 : 1;
    if (received == expected) continue;
    ADD_FAILURE() << fmt::format("{}: rank {} receives {} messages; expected {}", heading(asked), rank,
                                 received, expected);
    return false;
  }
  return true;
}

void diagnose_link(const dist::sim::LinkTraffic& link, const Round& round, int n) {
  const int next = (link.src + 1) % n;
  if (link.dst == round.root) {
    misconception(
        "ring_for_a_chain",
        "a chain has an end: the rank before the root has nobody to send to, the root has the data");
  } else if (link.src == round.root && link.dst != next) {
    misconception(
        "root_serves_everybody",
        "the root sends to its successor only: what it sends more goes through its one port as often");
  } else if (link.dst != next) {
    misconception("not_the_successor", "a rank of the chain sends to the rank after it and to nobody else");
  }
}

}  // namespace

void expect_root_sends_all(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done) || !check_one_message_each(done, asked)) return;
  const int n = asked.world_size(), root = asked.rounds[0].root;
  for (const auto& link : done.report.links) {
    if (link.src == root) continue;
    misconception("not_flat",
                  "asked for is the plainest way: one rank sends to all. The next steps are better");
    ADD_FAILURE() << fmt::format("{}: rank {} sends to rank {}; expected that only the root sends",
                                 heading(asked), link.src, link.dst);
    return;
  }
  const int rounds = judge::rounds(done.report);
  if (rounds == n - 1) return;
  ADD_FAILURE() << fmt::format("{}: took {} rounds; expected {}, one for each message of the root",
                               heading(asked), rounds, n - 1);
}

void expect_a_tree(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done) || !check_one_message_each(done, asked)) return;
  const int n = asked.world_size(), rounds = judge::rounds(done.report), limit = ceil_log2(n);
  if (rounds <= limit) return;
  const auto form = form_of(done, asked.rounds[0].root);
  diagnose_slow_tree(form, n);
  ADD_FAILURE() << fmt::format(
      "{} took {} rounds; expected at most ceil(log2 {}) = {}. The longest way has {} links, and one rank "
      "sends "
      "to {} others",
      heading(asked), rounds, n, limit, form.depth, form.widest);
}

void expect_a_chain(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto& round = asked.rounds[0];
  const int n = asked.world_size();
  const auto bytes = static_cast<std::uint64_t>(round.bytes());
  for (const auto& link : done.report.links) {
    diagnose_link(link, round, n);
    if (link.dst == (link.src + 1) % n && link.dst != round.root && link.bytes == bytes) continue;
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} bytes to rank {}; expected {} bytes to its successor, and nothing to "
        "others or from the last rank",
        heading(asked), link.src, link.bytes, link.dst, bytes);
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
      misconception(
          "not_in_segments",
          "all of it in one message: the next rank can pass nothing on before the last byte has come");
    }
    ADD_FAILURE() << fmt::format("{}: rank {} sends rank {} {} messages; expected {}", what, link.src,
                                 link.dst, link.messages, expected);
    return;
  }
  const int limit = n - 2 + round.messages();
  if (rounds <= limit) return;
  misconception(
      "waits_before_the_next_segment",
      "a rank receives and sends in turns: let a segment leave (isend, without waiting) while the next "
      "one is being received, and wait for all of them at the end");
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most n - 2 + segments = {}", what, rounds,
                               limit);
}

}  // namespace lab05
