// Lab 09: which rank sends how much to which, in how many steps, with how much memory and in what time.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "marks.h"
#include "support.h"

namespace lab09 {
namespace {

using judge::misconception, judge::SimRun;

bool is_pipelined(const SumsAsked& asked) { return asked.call == "all_reduce_pipelined"; }
bool has_two_halves(const SumsAsked& asked) { return is_pipelined(asked) || asked.call == "ring_all_reduce"; }

std::int64_t longest_chunk(const Sum& sum) { return (sum.elements() + sum.ranks() - 1) / sum.ranks(); }
int segments(const SumsAsked& asked) {
  return is_pipelined(asked) ? asked.first().segments_of(longest_chunk(asked.first())) : 1;
}
int steps(const SumsAsked& asked) { return (has_two_halves(asked) ? 2 : 1) * (asked.first().ranks() - 1); }

std::int64_t shortest(const std::vector<std::int64_t>& sorted) { return sorted.empty() ? 0 : sorted.front(); }
std::int64_t longest(const std::vector<std::int64_t>& sorted) { return sorted.empty() ? 0 : sorted.back(); }

std::vector<std::int64_t> without_zeros(std::vector<std::int64_t> lengths) {
  std::erase(lengths, 0);
  return lengths;
}

// Elements of the segments of a chunk with this length.
using Cut = std::function<std::vector<std::int64_t>(std::int64_t length)>;

Cut as_chunks(int m) {
  return [m](std::int64_t length) {
    std::vector<std::int64_t> lengths;
    for (int k = 0; k < m; ++k) lengths.push_back(length * (k + 1) / m - length * k / m);
    return lengths;
  };
}

Cut by_segment_length(int m, std::int64_t segment) {
  return [m, segment](std::int64_t length) {
    std::vector<std::int64_t> lengths;
    for (int k = 0; k < m; ++k) lengths.push_back(std::clamp<std::int64_t>(length - k * segment, 0, segment));
    return lengths;
  };
}

// The elements of each message that a rank sends, the smallest first. In each half it sends all chunks except
// one: the one that is complete on it afterwards in the reduce-scatter, the next one in the all-gather. Where
// both halves are asked for, that may be any chunk: number rank + `ahead`.
std::vector<std::int64_t> lengths_of(const SumsAsked& asked, int rank, int ahead, const Cut& cut) {
  const Sum& sum = asked.first();
  std::vector<std::int64_t> lengths;
  const auto send_all_but = [&](int left_out) {
    for (int c = 0; c < sum.ranks(); ++c) {
      if (c == left_out % sum.ranks()) continue;
      const auto segments = cut(sum.begin(c + 1) - sum.begin(c));
      lengths.insert(lengths.end(), segments.begin(), segments.end());
    }
  };
  if (asked.call != "all_gather") send_all_but(rank + ahead);
  if (asked.call != "reduce_scatter") send_all_but(rank + ahead + 1);
  std::ranges::sort(lengths);
  return lengths;
}

using Lengths = std::vector<std::vector<std::int64_t>>;  // [rank]
Lengths lengths_of_all(const SumsAsked& asked, int ahead, const Cut& cut) {
  Lengths all;
  for (int rank = 0; rank < asked.first().ranks(); ++rank) all.push_back(lengths_of(asked, rank, ahead, cut));
  return all;
}
bool are_sent(const Lengths& sent, const SumsAsked& asked, const Cut& cut) {
  for (int ahead = 0; ahead < (has_two_halves(asked) ? asked.first().ranks() : 1); ++ahead)
    if (sent == lengths_of_all(asked, ahead, cut)) return true;
  return false;
}

void diagnose_link(const dist::sim::LinkTraffic& link, int n) {
  if (link.src == (link.dst + 1) % n) {
    misconception("ring_the_other_way",
                  "this is a ring as well, but in the wrong direction; fix: send to rank + 1");
  } else {
    misconception(
        "not_a_ring",
        "a rank sends to a rank that is not its successor; fix: send to the next rank of the ring only");
  }
}

void not_in_segments() {
  misconception("not_in_segments",
                "a chunk is sent in one message, so none of it can be added before all of it has arrived; "
                "fix: send it in segments");
}

void diagnose_amount(const SumsAsked& asked, const dist::sim::RankTraffic& traffic, std::uint64_t right) {
  const Sum& sum = asked.first();
  const auto n = static_cast<std::uint64_t>(sum.ranks()), all = static_cast<std::uint64_t>(sum.bytes());
  const auto n_steps = static_cast<std::uint64_t>(steps(asked)),
             m = static_cast<std::uint64_t>(segments(asked));
  if (has_two_halves(asked) && traffic.bytes_sent >= (n - 1) * all) {
    misconception("gathers_everything_to_sum",
                  "every rank receives the numbers of all other ranks and adds them up itself, which takes "
                  "n/2 times the bytes; fix: send partial sums, which are as long as one rank's numbers");
  } else if (traffic.bytes_sent > right) {
    misconception("sends_more_than_a_chunk", "a rank sends more than one chunk per step; fix: send one");
  } else if (is_pipelined(asked) && traffic.messages_sent == static_cast<std::uint64_t>(steps(asked))) {
    not_in_segments();
  } else if (is_pipelined(asked) && traffic.messages_sent == n_steps * (m - 1)) {
    misconception("too_few_segments",
                  "a chunk is cut into one segment less than m = ceil(longest chunk / segment), so segments "
                  "are too long; fix: divide the length of the longest chunk, and round up");
  } else if (is_pipelined(asked) && traffic.messages_sent == n_steps * (m + 1)) {
    misconception("too_many_segments",
                  "a chunk is cut into one segment more than m = ceil(longest chunk / segment); fix: round "
                  "up, which adds nothing where the division leaves no rest");
  }
}

// Whether each rank has sent the messages that it should.
bool expect_messages(const SumsAsked& asked, const Lengths& sent, const SimRun& done) {
  const int m = segments(asked);
  if (are_sent(sent, asked, as_chunks(m))) return true;
  const Lengths all = lengths_of_all(asked, 0, as_chunks(m));
  const auto is_by_length = [&] {
    return is_pipelined(asked) && are_sent(sent, asked, by_segment_length(m, asked.first().segment));
  };
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto &lengths = sent[rank], &right = all[rank];
    if (lengths == right) continue;
    const auto& traffic = done.report.traffic[rank];
    const auto bytes = static_cast<std::uint64_t>(asked.first().item_bytes() *
                                                  std::reduce(right.begin(), right.end(), std::int64_t{0}));
    if (is_by_length())
      misconception("cut_by_the_segment_length",
                    "the segments have `segment` elements each, and the last one has the rest; another rank "
                    "that cuts as the contract says would not understand them; fix: segment k of a chunk is "
                    "chunk.chunk(m)[k]");
    else if (lengths == without_zeros(right))
      misconception("skips_empty_messages",
                    "a chunk or a segment without elements is not sent; fix: send it, too, because in every "
                    "step every rank sends one message and receives one");
    else
      diagnose_amount(asked, traffic, bytes);
    ADD_FAILURE() << fmt::format(
        "{}: rank {} sends {} messages, {} bytes in all, the shortest {} and the longest {} elements; "
        "expected {} "
        "messages, {} bytes in all, the shortest {} and the longest {} elements",
        asked.text(), rank, lengths.size(), traffic.bytes_sent, shortest(lengths), longest(lengths),
        right.size(), bytes, shortest(right), longest(right));
    return false;
  }
  return false;
}

void takes_any_message() {
  misconception(
      "takes_any_message",
      "the call is right by itself, but not while another message is under way between two ranks that "
      "are not neighbours; fix: receive from the rank before by its number, because a receive from "
      "any rank takes such a message, too");
}

}  // namespace

void expect_ring_traffic(const SumsAsked& asked) {
  SimRun done;
  const int n = asked.first().ranks();
  Lengths sent(static_cast<std::size_t>(n));
  auto watched = asked;
  watched.sent = [&](int rank, std::chrono::nanoseconds, std::span<const std::byte> bytes) {
    sent[static_cast<std::size_t>(rank)].push_back(std::ssize(bytes) / asked.first().item_bytes());
  };
  if (!judge::run_sums(watched, "rounds", done)) return;
  for (auto& lengths : sent) std::ranges::sort(lengths);
  for (const auto& link : done.report.links) {
    if (link.dst == (link.src + 1) % n) continue;
    diagnose_link(link, n);
    ADD_FAILURE() << fmt::format("{}: rank {} sends to rank {}; it must send to rank {} only", asked.text(),
                                 link.src, link.dst, (link.src + 1) % n);
    return;
  }
  const auto messages = static_cast<std::uint64_t>(steps(asked) * segments(asked));
  if (!expect_messages(asked, sent, done)) return;
  const int rounds = judge::rounds(done.report);
  if (std::cmp_less_equal(rounds, messages + messages / 10))
    return;  // starting an operation takes a little time, too
  misconception("sends_and_receives_in_turns",
                "a rank sends and receives one after the other, but its two ports can work at the same time; "
                "fix: start the receive (irecv), send, then wait, so that both take one step");
  ADD_FAILURE() << fmt::format("{} took {} steps; expected {}", asked.text(), rounds, messages);
}

void expect_little_scratch(const SumsAsked& asked) {
  SimRun done;
  if (!judge::run_sums(asked, "rounds", done)) return;
  const Sum& sum = asked.first();
  const std::int64_t m = segments(asked), chunk = longest_chunk(sum) * sum.item_bytes();
  const auto data = static_cast<std::uint64_t>(sum.bytes());
  const auto in_flight = static_cast<std::uint64_t>(is_pipelined(asked) ? 2 * ((chunk + m - 1) / m) : chunk);
  const auto scratch = asked.call == "all_gather" ? 0 : in_flight;
  for (int rank = 0; rank < sum.ranks(); ++rank) {
    const auto peak = done.report.peak_buffer_bytes[static_cast<std::size_t>(rank)];
    if (peak <= data + scratch + in_flight / 2) continue;  // an allowance for small tensors
    if (peak >= 2 * data) {
      misconception("scratch_as_long_as_the_data",
                    "the scratch memory is as long as the data, which a ring avoids; fix: use one chunk of "
                    "scratch, because one chunk arrives at a time");
    } else {
      misconception("too_much_scratch",
                    "there is more scratch memory than a ring needs; fix: reuse one buffer for arriving data "
                    "in every step (two in part 4, none in part 2)");
    }
    ADD_FAILURE() << fmt::format(
        "{}: the tensors of rank {} take {} bytes at the same time; expected {} bytes of data and {} bytes "
        "of scratch",
        asked.text(), rank, peak, data, scratch);
    return;
  }
}

void expect_adding_is_hidden(SumsAsked asked) {
  asked.trace = true;
  SentSegments sent(asked.first());
  auto marked = asked;
  marked.call += with_marks;
  marked.ideas = nullptr;
  marked.sent = sent.watch();
  SimRun done;
  if (!judge::run_sums(marked, "laptop", done)) return;
  const Sum& sum = asked.first();
  if (done.report.messages == static_cast<std::uint64_t>(sum.ranks() * steps(asked))) not_in_segments();
  if (!sent.check_additions(asked, done)) return;
  constexpr double overhead_us = 0.5, us_a_byte = 1e-4;  // of the topology
  const int messages = steps(asked) * segments(asked);
  const double bytes = static_cast<double>(longest_chunk(sum) * sum.item_bytes()) * steps(asked);
  const double port_us = messages * overhead_us + us_a_byte * bytes,
               took_us = done.report.virtual_time_s * 1e6;
  if (took_us <= 1.1 * port_us) return;
  misconception("waits_for_each_segment",
                "the port is idle while a segment is added; fix: start the next receive and the next send "
                "(irecv, isend) before adding what has arrived");
  ADD_FAILURE() << fmt::format(
      "{} took {:.1f} us of a laptop's virtual time; its messages occupy a port for {:.1f} us: expected at "
      "most 10 % more",
      asked.text(), took_us, port_us);
}

// Memory outside of tensors is that of the whole process.
void expect_little_memory(const std::string& call) {
  constexpr int ranks = 4;
  constexpr std::int64_t elements = 16 << 20, segment = elements / ranks / 8;
  SimRun without, with;
  const auto asked = asked_of(call, {judge::large_sum(ranks, elements, segment)});
  if (!judge::run_sums(asked_of(call, {judge::large_sum(ranks, ranks, 1)}), "laptop", without)) return;
  if (!judge::run_sums(asked, "laptop", with)) return;
  const auto data = static_cast<std::size_t>(asked.first().bytes());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto before = without.ranks[rank].peak_memory_bytes, peak = with.ranks[rank].peak_memory_bytes;
    if (peak < before + 2 * data + data / 2) continue;  // messages on their way take memory, too
    misconception("scratch_as_long_as_the_data",
                  "the scratch memory is as long as the data, which a ring avoids; fix: use one chunk of "
                  "scratch, because one chunk arrives at a time");
    ADD_FAILURE() << fmt::format(
        "{}: the process of rank {} takes {} MiB more than for {} elements; its data has {} MiB",
        asked.text(), rank, (peak - before) >> 20, ranks, data >> 20);
    return;
  }
}

void expect_apart(const SumsAsked& asked) {
  auto beside = asked;
  beside.call += " beside other messages";
  beside.ideas = nullptr;
  beside.diagnose = [](const auto&) { takes_any_message(); };
  judge::expect_sums(beside, false);
  if (testing::Test::HasFailure()) takes_any_message();
}

}  // namespace lab09
