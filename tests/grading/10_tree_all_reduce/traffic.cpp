// Lab 10: what the ranks should have, who sends how often to whom, and in how many rounds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab10 {
namespace {

using judge::Idea, judge::misconception, judge::SimRun;

constexpr double any = std::numeric_limits<double>::quiet_NaN();

bool is_pipelined(const SumsAsked& asked) { return asked.call == "tree_all_reduce_pipelined"; }
bool goes_down(const SumsAsked& asked) { return asked.call != "reduce_to_root"; }
int segments(const SumsAsked& asked) {
  return is_pipelined(asked) ? asked.first().segments_of(asked.first().elements()) : 1;
}

double on_root(const Sum& sum, int rank, int i) { return rank == 0 ? sum.total(i) : any; }

constexpr const char* only_root_in_words =
    "rank 0 has the sum and others do not: after the way up comes the way down, to all";

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known = [] {
    std::vector<Idea> all{{"reduce_to_root", "nothing_summed", "rank 0 has its own numbers still",
                           [](const Sum& s, int rank, int i) { return rank == 0 ? s.at(rank, i) : any; }}};
    // What came from the last child took the place of the own numbers.
    for (const int last : {1, 2}) {
      all.push_back(
          {"reduce_to_root", "overwrites_its_own",
           "what came took the place of this rank's own numbers: receive into memory of its own, and "
           "add",
           [last](const Sum& s, int rank, int i) {
             return rank == 0 && last < s.ranks() && s.ranks() <= 3 ? s.at(last, i) : any;
           }});
    }
    for (const char* call : {"tree_all_reduce", "tree_all_reduce_pipelined"}) {
      all.push_back({call, "result_on_rank_0_only", only_root_in_words, on_root});
      all.push_back({call, "last_segment_dropped",
                     "the last elements were not summed: when the segment does not divide the length, one "
                     "shorter segment is left",
                     [](const Sum& s, int rank, int i) {
                       return i < s.elements() / s.segment * s.segment ? s.total(i) : s.at(rank, i);
                     }});
    }
    return all;
  }();
  return known;
}

void diagnose_overlap(const std::string& call, const dist::check::Finding& finding) {
  const auto receives = std::ranges::count_if(
      finding.parties, [](const auto& party) { return party.doing.find("recv") != std::string::npos; });
  if (receives == 2) {
    misconception("one_place_for_two",
                  "two receives are in flight into the same place: what comes second lands on what came "
                  "first. Each its own inbox, or one after the other");
  } else if (receives == 1 && call != "reduce_to_root") {
    misconception("result_over_what_leaves",
                  "something arrives where something else has not left yet, as the result in place of the "
                  "partial sum: wait for that send first");
  }
}

void diagnose_finding(const std::string& call, const dist::check::Finding& finding) {
  using dist::check::Code;
  if (finding.code == Code::overlap) {
    diagnose_overlap(call, finding);
  } else if (finding.code == Code::changed_before_wait) {
    misconception("changes_what_leaves",
                  "what leaves was changed before it had left: wait for the send first");
  } else if (finding.code == Code::read_before_wait) {
    misconception("adds_before_it_came", "what an irecv brings is there after its wait(), not before");
  }
}

// Messages between two ranks: {towards the lower one, towards the higher one}.
using Links = std::map<std::pair<int, int>, std::pair<std::uint64_t, std::uint64_t>>;

Links links_of(const SimRun& done) {
  Links links;
  for (const auto& link : done.report.links) {
    auto& [to_lower, to_higher] = links[std::minmax(link.src, link.dst)];
    (link.dst < link.src ? to_lower : to_higher) += link.messages;
  }
  return links;
}

int most_peers(const Links& links, int n) {
  std::vector<int> peers(static_cast<std::size_t>(n));
  for (const auto& [ends, messages] : links) {
    ++peers[static_cast<std::size_t>(ends.first)];
    ++peers[static_cast<std::size_t>(ends.second)];
  }
  return *std::ranges::max_element(peers);
}

void diagnose_links(const SumsAsked& asked, const SimRun& done, const Links& links) {
  const auto n = static_cast<std::uint64_t>(asked.first().ranks());
  const auto ways = goes_down(asked) ? 2U : 1U, m = static_cast<unsigned>(segments(asked));
  if (is_pipelined(asked) && m > 1 && done.report.messages == ways * (n - 1)) {
    misconception(
        "not_in_segments",
        "all of it in one message: nothing can go on before all of it has come, on every level anew");
  } else if (std::cmp_equal(most_peers(links, asked.first().ranks()), n - 1)) {
    misconception(
        "root_serves_everybody",
        "one rank sends to all others, or hears from all: its port is the bottleneck. Send along the "
        "links of the tree");
  } else if (most_peers(links, asked.first().ranks()) > 3) {
    misconception("too_many_children",
                  "one rank has more partners than a parent and two children: messages go along the links of "
                  "tree_place(), which is not the tree of lab 07");
  } else if (done.report.messages > ways * (n - 1) * m) {
    misconception("link_used_twice",
                  "every link is needed once up and once down: the parent has the sum of the whole subtree "
                  "after one message, and the child the result after one");
  }
}

// Begin of each send, end of each receive of one rank.
std::vector<std::int64_t> moments(const SimRun& done, int rank, dist::trace::Kind kind) {
  std::vector<std::int64_t> all;
  for (const auto& event : done.report.trace.events) {
    if (event.rank == rank && event.kind == kind)
      all.push_back(kind == dist::trace::Kind::send ? event.begin : event.end);
  }
  std::ranges::sort(all);
  return all;
}

// On the ranks with one partner, the leaves.
bool sends_one_and_waits(const SimRun& done, int n) {
  const auto links = links_of(done);
  for (int rank = 1; rank < n; ++rank) {
    const auto is_end = [&](const auto& link) {
      return link.first.first == rank || link.first.second == rank;
    };
    if (std::ranges::count_if(links, is_end) != 1) continue;
    const auto sent = moments(done, rank, dist::trace::Kind::send),
               came = moments(done, rank, dist::trace::Kind::receive);
    for (std::size_t i = 1; i < sent.size(); ++i)
      if (i > came.size() || sent[i] < came[i - 1]) return false;
  }
  return true;
}

// The root has received all before it sends.
bool all_up_before_down(const SimRun& done) {
  const auto sent = moments(done, 0, dist::trace::Kind::send),
             came = moments(done, 0, dist::trace::Kind::receive);
  return !sent.empty() && !came.empty() && came.back() <= sent.front();
}

void diagnose_rounds(const SumsAsked& asked, const SimRun& done) {
  if (!is_pipelined(asked)) {
    misconception("tree_too_deep", "more rounds than the levels of such a tree take");
  } else if (sends_one_and_waits(done, asked.first().ranks())) {
    misconception(
        "waits_for_each_segment",
        "a segment is up and down again before the next one starts: let the next one go up meanwhile");
  } else if (all_up_before_down(done)) {
    misconception("down_waits_for_up",
                  "all segments go up before the first one comes down, so half of each port stands still: a "
                  "rank at depth d has a segment back 2d turns after it sent it up");
  }
}

}  // namespace

SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums) {
  SumsAsked asked{.call = call, .sums = sums, .ideas = &ideas()};
  asked.diagnose = [call](const auto& finding) { diagnose_finding(call, finding); };
  if (call == "reduce_to_root") asked.expected = on_root;
  return asked;
}

void expect_tree_traffic(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const auto links = links_of(done);
  const int n = asked.first().ranks();
  const auto up = static_cast<std::uint64_t>(segments(asked)), down = goes_down(asked) ? up : 0;
  for (const auto& [ends, messages] : links) {
    const auto [most, least] = std::minmax(messages.first, messages.second, std::greater<>());
    if (most == up && least == down && std::cmp_equal(links.size(), n - 1) && most_peers(links, n) <= 3)
      continue;
    diagnose_links(asked, done, links);
    ADD_FAILURE() << fmt::format(
        "{}: between ranks {} and {} there are {} messages one way and {} the other, and {} pairs of ranks "
        "exchange some; expected n - 1 = {} pairs, {} one way and {} the other, and three partners at most",
        asked.text(), ends.first, ends.second, most, least, links.size(), n - 1, up, down);
    return;
  }
  for (const auto& link : done.report.links) {
    if (std::cmp_equal(link.bytes, asked.first().bytes())) continue;
    ADD_FAILURE() << fmt::format("{}: rank {} sends rank {} {} bytes; expected the tensor once, {}",
                                 asked.text(), link.src, link.dst, link.bytes, asked.first().bytes());
    return;
  }
}

void expect_few_rounds(SumsAsked asked) {
  asked.trace = true;
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const int n = asked.first().ranks(), m = segments(asked), depth = ceil_log2(n);
  const int limit = is_pipelined(asked) ? 3 * m + 6 * depth + 4 : (goes_down(asked) ? 4 : 2) * depth;
  const int rounds = judge::rounds(done.report);
  if (rounds <= limit + limit / 10) return;  // posting takes a little, too
  diagnose_rounds(asked, done);
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most {}", asked.text(), rounds, limit);
}

}  // namespace lab10
