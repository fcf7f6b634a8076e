// Lab 10: what the ranks should have, which rank sends how often to which, and in how many rounds.
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
    "rank 0 has the sum and other ranks do not; fix: after the way up, send the sum down to all ranks";

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known = [] {
    std::vector<Idea> all{{"reduce_to_root", "nothing_summed", "rank 0 still has its own numbers",
                           [](const Sum& s, int rank, int i) { return rank == 0 ? s.at(rank, i) : any; }}};
    // What arrived from the last child replaced the rank's own numbers.
    for (const int last : {1, 2}) {
      all.push_back(
          {"reduce_to_root", "overwrites_its_own",
           "what arrived replaced this rank's own numbers; fix: receive into separate memory, then add",
           [last](const Sum& s, int rank, int i) {
             return rank == 0 && last < s.ranks() && s.ranks() <= 3 ? s.at(last, i) : any;
           }});
    }
    for (const char* call : {"tree_all_reduce", "tree_all_reduce_pipelined"}) {
      all.push_back({call, "result_on_rank_0_only", only_root_in_words, on_root});
      all.push_back({call, "last_segment_dropped",
                     "the last elements were not summed; fix: if the segment does not divide the length, "
                     "send one smaller segment at the end",
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
                  "two receives are in flight into the same memory, so the second message overwrites the "
                  "first; fix: use one buffer per child, or receive one after the other");
  } else if (receives == 1 && call != "reduce_to_root") {
    misconception("result_over_what_leaves",
                  "a message arrives in memory that is still being sent, for example the result over the "
                  "partial sum; fix: wait for that send first");
  }
}

void diagnose_finding(const std::string& call, const dist::check::Finding& finding) {
  using dist::check::Code;
  if (finding.code == Code::overlap) {
    diagnose_overlap(call, finding);
  } else if (finding.code == Code::changed_before_wait) {
    misconception("changes_what_leaves",
                  "memory was changed while it was being sent; fix: wait for the send first");
  } else if (finding.code == Code::read_before_wait) {
    misconception("adds_before_it_came", "what an irecv receives may be read after its wait(), not before");
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
    misconception("not_in_segments",
                  "all data is sent in one message, so on every level nothing can be passed on before all of "
                  "it has arrived; fix: send it in segments");
  } else if (std::cmp_equal(most_peers(links, asked.first().ranks()), n - 1)) {
    misconception("root_serves_everybody",
                  "one rank sends to all others, or receives from all, so its port is the bottleneck; fix: "
                  "send along the links of the tree");
  } else if (most_peers(links, asked.first().ranks()) > 3) {
    misconception("too_many_children",
                  "one rank has more partners than a parent and two children; fix: send along the links of "
                  "tree_place(), which is not the tree of lab 07");
  } else if (done.report.messages > ways * (n - 1) * m) {
    misconception("link_used_twice",
                  "every link is needed once up and once down per segment: one message takes the sum of the "
                  "whole subtree to the parent, and one takes the result to the child");
  }
}

// The beginnings of the sends and the ends of the receives of one rank.
std::vector<std::int64_t> moments(const SimRun& done, int rank, dist::trace::Kind kind) {
  std::vector<std::int64_t> all;
  for (const auto& event : done.report.trace.events) {
    if (event.rank == rank && event.kind == kind)
      all.push_back(kind == dist::trace::Kind::send ? event.begin : event.end);
  }
  std::ranges::sort(all);
  return all;
}

// Checks the ranks with one partner, which are the leaves.
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

// Whether the root has received everything before it sends.
bool all_up_before_down(const SimRun& done) {
  const auto sent = moments(done, 0, dist::trace::Kind::send),
             came = moments(done, 0, dist::trace::Kind::receive);
  return !sent.empty() && !came.empty() && came.back() <= sent.front();
}

void diagnose_rounds(const SumsAsked& asked, const SimRun& done) {
  if (!is_pipelined(asked)) {
    misconception("tree_too_deep", "the calls take more rounds than the levels of such a tree need");
  } else if (sends_one_and_waits(done, asked.first().ranks())) {
    misconception("waits_for_each_segment",
                  "a segment goes up and comes down before the next one starts; fix: let the next segment go "
                  "up at the same time");
  } else if (all_up_before_down(done)) {
    misconception("down_waits_for_up",
                  "all segments go up before the first one comes down, so half of each port is idle; fix: "
                  "let segment t - 2d come down at depth d in the turn in which segment t goes up");
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
        "{}: between ranks {} and {} there are {} messages one way and {} the other way, and {} pairs of "
        "ranks exchange messages; expected n - 1 = {} pairs, {} messages one way and {} the other way, and "
        "three partners per rank at most",
        asked.text(), ends.first, ends.second, most, least, links.size(), n - 1, up, down);
    return;
  }
  for (const auto& link : done.report.links) {
    if (std::cmp_equal(link.bytes, asked.first().bytes())) continue;
    ADD_FAILURE() << fmt::format("{}: rank {} sends rank {} {} bytes; expected the tensor once, {} bytes",
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
  if (rounds <= limit + limit / 10) return;  // starting an operation takes a little time, too
  diagnose_rounds(asked, done);
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most {}", asked.text(), rounds, limit);
}

void expect_apart(judge::Random& random, SumsAsked asked) {
  asked.ideas = nullptr;
  for (const int late : {1, 2, 3, -1}) {
    asked.late = late;
    asked.schedule = late >= 0 ? std::string() : std::to_string(random.between(1, 1'000'000));
    judge::expect_sums(asked, false);
    if (!testing::Test::HasFailure()) continue;
    return misconception(
        "calls_mixed",
        "one call is right by itself, but not calls in a row while a rank is late; fix: receive "
        "from each child by its number, because a receive from any rank also takes what a "
        "faster child sends in its next call");
  }
}

}  // namespace lab10
