// Lab 08: which collectives are called, how often and with how many bytes.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/numbers.h"
#include "support.h"

namespace lab08 {
namespace {

using judge::misconception;

using Calls = std::vector<dist::trace::Event>;

Calls calls_of(const judge::SimRun& done, int rank) {
  Calls calls;
  for (const auto& event : done.report.trace.events) {
    if (event.kind == dist::trace::Kind::call && event.rank == rank) calls.push_back(event);
  }
  return calls;
}

void diagnose_length(const Asked& asked, const dist::trace::Event& call) {
  if (asked.is_over_ranks()) {
    misconception("longer_than_the_tensor",
                  "more than the elements themselves is sent; fix: use one all_reduce of k elements");
  } else if (call.name == "all_reduce") {
    misconception("sends_the_row",
                  "as many numbers are sent as the row has; fix: send only the max and the sum of a shard");
  } else {
    misconception("gathers_the_logits",
                  "entries of the row are sent to other ranks: n - 1 times the row in all, though two "
                  "numbers per rank are enough; fix: send only one max and one sum");
  }
}

void diagnose_number(const Asked& asked, std::size_t calls, int right) {
  if (asked.call == "softmax_in_one") {
    misconception("two_exchanges",
                  "exchanging the max first and the sum afterwards takes two exchanges, and the second waits "
                  "for the first; fix: send a rank's own max and the sum relative to it together");
  } else if (asked.call == "cross_entropy") {
    misconception("an_exchange_for_each_number",
                  "the sum of the exps and the target's logit are both sums, and are known at the same time; "
                  "fix: use one all_reduce of two numbers");
  } else if (asked.call == "weighted_mean" && calls == 2) {
    misconception("an_all_reduce_for_the_weights",
                  "two sums are made by two all_reduces, and each costs the overhead of every message; fix: "
                  "append the weight to the numbers, in one tensor of k + 1");
  } else if (calls >= 2 * static_cast<std::size_t>(right)) {
    misconception("a_collective_for_each_element",
                  "one all_reduce per element costs the overhead of every message again and again; fix: use "
                  "one all_reduce of the whole tensor");
  }
}

void diagnose_call(const Asked& asked, const dist::trace::Event& call, const Exchange& exchange) {
  if (call.bytes > exchange.bytes) return diagnose_length(asked, call);
  if (std::ranges::find(any_collective(), call.name) != any_collective().end())
    return diagnose_number(asked, 1, exchange.calls);
  misconception("messages_by_hand",
                "the exchange consists of single messages, one after another; fix: use a collective, which "
                "is one call, takes fewer rounds and has a correct order");
}

const dist::trace::Event* largest_that_is_not_allowed(const Calls& calls, const Exchange& exchange) {
  const dist::trace::Event* worst = nullptr;
  for (const auto& call : calls) {
    if (call.name == exchange.collective && call.bytes <= exchange.bytes) continue;
    if (worst == nullptr || call.bytes > worst->bytes) worst = &call;
  }
  return worst;
}

// What the network carried, whatever calls were made. No algorithm of a collective sends more than its bytes
// from every rank to every rank.
void expect_little_traffic(const Asked& asked, const judge::SimRun& done, const Exchange& exchange) {
  const auto n = static_cast<std::uint64_t>(asked.world_size());
  const auto limit = static_cast<std::uint64_t>(exchange.calls) * exchange.bytes * n * n;
  std::uint64_t sent = 0;
  for (const auto& of_rank : done.report.traffic) sent += of_rank.bytes_sent;
  if (sent <= limit) return;
  ADD_FAILURE() << fmt::format("{}: all ranks together sent {}; expected {}, which takes at most {}",
                               asked.text(0), judge::counted(sent, "byte"), exchange.in_words,
                               judge::counted(limit, "byte"));
}

}  // namespace

void expect_exchange(const Asked& asked, const Exchange& exchange) {
  const auto done = run(asked);
  if (!all_are_right(asked, results(asked, done, any_collective()))) return;
  for (int rank = 0; rank < asked.world_size(); ++rank) {
    const auto calls = calls_of(done, rank);
    if (const auto* worst = largest_that_is_not_allowed(calls, exchange)) {
      diagnose_call(asked, *worst, exchange);
      ADD_FAILURE() << fmt::format("{}: rank {} calls {} with {} at {}; expected {}: at most {}",
                                   asked.text(0), rank, worst->name, judge::counted(worst->bytes, "byte"),
                                   worst->where.str(), exchange.in_words,
                                   judge::counted(exchange.bytes, "byte"));
      return;
    }
    if (std::cmp_less_equal(calls.size(), exchange.calls)) continue;
    diagnose_number(asked, calls.size(), exchange.calls);
    ADD_FAILURE() << fmt::format("{}: rank {} makes {} of {}; expected {}", asked.text(0), rank,
                                 judge::counted(calls.size(), "call"), exchange.collective,
                                 exchange.in_words);
    return;
  }
  expect_little_traffic(asked, done, exchange);
}

}  // namespace lab08
