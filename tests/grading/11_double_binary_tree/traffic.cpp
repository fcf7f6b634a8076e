// Lab 11, part 3: what the ranks should have, how much each sends, in how many rounds and in what time.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support.h"

namespace lab11 {
namespace {

using dist::check::Code, dist::check::Finding;
using judge::Idea, judge::misconception, judge::SimRun;

// The segments of the longer half, which is the second one.
int segments(const Sum& sum) { return sum.segments_of((sum.elements() + 1) / 2); }

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known{
      {"double_tree_all_reduce", "half_forgotten",
       "the second half of the data was not summed; fix: send it along the second tree",
       [](const Sum& s, int rank, int i) { return i < s.elements() / 2 ? s.total(i) : s.at(rank, i); }},
      {"double_tree_all_reduce", "nothing_summed", "every rank still has its own numbers",
       [](const Sum& s, int rank, int i) { return s.at(rank, i); }}};
  return known;
}

void diagnose_finding(const Finding& finding, int n) {
  if (diagnose_trees(n)) return;
  if (finding.code == Code::overlap || finding.code == Code::changed_before_wait) {
    misconception("not_in_halves",
                  "memory is changed while a message is still using it; fix: let each tree carry its own "
                  "half of the data, so that the messages of the two trees never share memory");
  } else if (finding.code == Code::deadlock) {
    misconception("waits_for_each_hop",
                  "a rank waits for one message of a phase before it has started the other one, and so does "
                  "its partner; fix: start all messages of the phase (irecv, isend), then wait for all");
  }
}

}  // namespace

bool diagnose_trees(int n) {
  if (has_right_trees(n)) return false;
  misconception(
      "follows_from_the_trees",
      "the timetable is made from first_tree and second_tree, and these are not NCCL's trees; fix: Parts "
      "1 and 2 first");
  return true;
}

SumsAsked asked_of(const std::vector<Sum>& sums) {
  const auto diagnose = [n = sums.at(0).ranks()](const Finding& finding) { diagnose_finding(finding, n); };
  return {.call = "double_tree_all_reduce", .sums = sums, .ideas = &ideas(), .diagnose = diagnose};
}

void expect_twice_the_data(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const Sum& sum = asked.first();
  const auto n = static_cast<std::uint64_t>(sum.ranks()), data = static_cast<std::uint64_t>(sum.bytes());
  for (std::size_t rank = 0; rank < n; ++rank) {
    const auto& traffic = done.report.traffic[rank];
    const auto most = std::max(traffic.bytes_sent, traffic.bytes_received);
    if (most * 20 <= data * 42) continue;
    misconception(
        "one_tree_for_all",
        "an inner rank of one tree sends three times the data of that tree; fix: give each tree one half of "
        "the data, so that a rank, which is an inner rank in one tree only, sends twice the data");
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} bytes and receives {}; expected at most twice the data, {} bytes, plus 5 %",
        asked.text(), rank, traffic.bytes_sent, traffic.bytes_received, 2 * data);
    return;
  }
  const auto messages = 4 * (n - 1) * static_cast<unsigned>(segments(sum));
  if (done.report.messages == messages) return;
  if (done.report.messages == 4 * (n - 1)) {
    misconception("not_in_segments",
                  "each half is sent in one message, so on every level nothing can be passed on before all "
                  "of it has arrived; fix: send it in segments");
  }
  ADD_FAILURE() << fmt::format(
      "{}: {} messages in all; expected 4(n - 1) per pair of segments (one of each half), {} in all",
      asked.text(), done.report.messages, messages);
}

void expect_each_half_on_its_tree(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const Sum& sum = asked.first();
  const int n = sum.ranks();
  const auto is_link = [&](auto&& node, int a, int b) {
    return node(a, n).parent == b || node(b, n).parent == a;
  };
  const auto first = static_cast<std::uint64_t>(sum.elements() / 2 * sum.item_bytes()),
             second = static_cast<std::uint64_t>(sum.bytes()) - first;
  for (const auto& link : done.report.links) {
    const bool in_first = is_link(dist::binary_node, link.src, link.dst),
               in_second = is_link(dist::second_binary_node, link.src, link.dst);
    if (in_first == in_second || link.bytes == (in_first ? first : second)) continue;
    if (link.bytes == (in_first ? second : first))
      misconception(
          "halves_swapped",
          "each half goes along the other one's tree; fix: send chunk 0 along the first tree and chunk 1 "
          "along the second, as the other ranks of a job may do");
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends rank {} {} bytes along a link of the {} tree; expected {}, one half of the data",
        asked.text(), link.src, link.dst, link.bytes, in_first ? "first" : "second",
        in_first ? first : second);
    return;
  }
}

void expect_both_at_once(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const Sum& sum = asked.first();
  const int limit = 4 * segments(sum) + 8 * ceil_log2(sum.ranks()) + 4, rounds = judge::rounds(done.report);
  if (rounds <= limit + limit / 20) return;  // starting an operation takes a little time, too
  misconception("one_half_after_the_other",
                "not all transfers of a turn run at the same time: either one tree waits for the other, or a "
                "message is waited for too early; fix: in each phase start all hops of the timetable, of "
                "both trees, then wait");
  ADD_FAILURE() << fmt::format("{} took {} rounds; expected at most 4m + 8 ceil(log2 n) + 4 = {}",
                               asked.text(), rounds, limit);
}

void expect_faster_than_one_tree(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "laptop", done)) return;
  const Sum& sum = asked.first();
  dist::sim::RunOptions options;
  options.ranks = sum.ranks();
  const auto one_tree = judge::simulate_own(options, [&](int) {
    dist::init_process_group();
    auto data = dist::ones({sum.elements()});
    dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "tree"});
  });
  const double limit = 0.95 * one_tree.virtual_time_s;
  if (done.report.virtual_time_s <= limit) return;
  ADD_FAILURE() << fmt::format(
      "{}: the call took {:.0f} us of virtual time; expected at most {:.0f} us, 5 % less than the library's "
      "single tree; both halves must be in flight at the same time",
      asked.text(), done.report.virtual_time_s * 1e6, limit * 1e6);
}

}  // namespace lab11
