// Lab 09: what the ranks should have, and what they would have if a wrong idea were right.
#include <algorithm>
#include <limits>

#include "support.h"

namespace lab09 {
namespace {

using dist::check::Code, dist::check::Finding;
using judge::Idea, judge::misconception;

constexpr double any = std::numeric_limits<double>::quiet_NaN();

int wrapped(int i, int n) { return (i % n + n) % n; }

double complete_in_own_chunk(const Sum& sum, int rank, int i) {
  return sum.chunk_of(i) == rank ? sum.total(i) : any;
}

double everybodys_chunk(const Sum& sum, int, int i) { return sum.at(sum.chunk_of(i), i); }

// The result if each rank's complete chunk were that of rank + `by`.
judge::Expected complete_beside(int by) {
  return [by](const Sum& sum, int rank, int i) {
    return sum.chunk_of(i) == wrapped(rank + by, sum.ranks()) ? sum.total(i) : any;
  };
}

// Chunk c reaches rank c + d after d - 1 other ranks, each of which has added its own.
double summed_on_the_way(const Sum& sum, int first, int last, int i) {
  double total = 0;
  for (int k = first; k <= last; ++k) total += sum.at(wrapped(k, sum.ranks()), i);
  return total;
}

// In the second half, what arrives is added to the partial sum in its place, and the result is passed on.
double added_twice(const Sum& sum, int rank, int i) {
  const int c = sum.chunk_of(i), distance = wrapped(rank - c, sum.ranks());
  double total = sum.total(i);
  for (int d = 1; d <= distance; ++d) total += summed_on_the_way(sum, c + 1, c + d, i);
  return total;
}

// All chunks have length / n elements, and the rest belongs to no chunk.
double without_remainder(const Sum& sum, int rank, int i) {
  const auto whole = sum.elements() / sum.ranks() * sum.ranks();
  return i < whole ? sum.total(i) : sum.at(rank, i);
}

double own_chunk_in_every_step(const Sum& sum, int rank, int i) {
  const int n = sum.ranks(), c = sum.chunk_of(i), before = wrapped(rank - 1, n);
  if (sum.elements() % n != 0) return any;
  if (c == rank) return sum.at(rank, i);
  return sum.at(before, i + static_cast<int>(sum.begin(before) - sum.begin(c)));
}

constexpr const char* off_by_one_in_words =
    "the sums are right but on the wrong ranks: chunk `rank` must be complete on this rank; fix: send first "
    "the chunk before the rank's own, so that its own chunk arrives last";
constexpr const char* short_in_words =
    "a step is missing; fix: let s go from 0 to n - 2, because a chunk needs n - 1 steps to pass all ranks";
constexpr const char* remainder_in_words =
    "the last elements were not summed: if n does not divide the length, n chunks of length / n elements are "
    "not all elements; fix: use data.chunk(n)";
constexpr const char* twice_in_words =
    "the result is more than the sum: in the second half chunks are complete; fix: replace the partial sum "
    "by what arrives instead of adding";

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known = [] {
    std::vector<Idea> all{
        {"reduce_scatter", "off_by_one_chunk", off_by_one_in_words, complete_beside(1)},
        {"reduce_scatter", "off_by_one_chunk", off_by_one_in_words, complete_beside(-1)},
        {"reduce_scatter", "one_step_short", short_in_words,
         [](const Sum& s, int rank, int i) { return s.chunk_of(i) == rank ? s.at(rank, i) : any; }},
        {"reduce_scatter", "overwrites_its_own",
         "what arrived replaced this rank's own numbers; fix: receive into separate memory, then add",
         [](const Sum& s, int rank, int i) {
           return s.chunk_of(i) == rank ? s.at(wrapped(rank + 1, s.ranks()), i) : any;
         }},
        {"all_gather", "passes_its_own_on",
         "in every step the rank sends its own chunk; fix: from the second step on, pass on what arrived in "
         "the step before",
         own_chunk_in_every_step},
        {"all_gather", "one_step_short", short_in_words, [](const Sum& s, int rank, int i) {
           const int c = s.chunk_of(i);
           return s.at(c == wrapped(rank + 1, s.ranks()) ? rank : c, i);
         }}};
    for (const char* call : {"ring_all_reduce", "all_reduce_pipelined"}) {
      all.push_back({call, "remainder_dropped", remainder_in_words, without_remainder});
      all.push_back({call, "sums_twice", twice_in_words, added_twice});
      all.push_back(
          {call, "nothing_summed",
           "every rank still has its own numbers; fix: begin with the first half, the reduce-scatter",
           [](const Sum& s, int rank, int i) { return s.at(rank, i); }});
      all.push_back({call, "half_of_it",
                     "each rank has the sum of its own chunk only; fix: add the second half, the all_gather",
                     complete_in_own_chunk});
    }
    return all;
  }();
  return known;
}

void diagnose_finding(const Finding& finding) {
  const auto sends = [](const auto& party) { return party.doing.find("send") != std::string::npos; };
  if (finding.code == Code::deadlock && std::ranges::all_of(finding.parties, sends)) {
    misconception("everybody_sends_first",
                  "every rank sends first, and each send waits for a receiver, so no rank receives; fix: "
                  "start the receive (irecv) before the send");
  } else if (finding.code == Code::overlap || finding.code == Code::changed_before_wait) {
    misconception("overwrites_what_leaves",
                  "a message arrives, or is added, in memory that is still being sent; fix: send and receive "
                  "in different memory, and send a chunk only once it is complete");
  } else if (finding.code == Code::read_before_wait) {
    misconception("adds_before_it_came",
                  "the memory of an irecv was read while it was in flight; fix: call wait() first");
  }
}

}  // namespace

SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums) {
  SumsAsked asked{.call = call, .sums = sums, .ideas = &ideas(), .diagnose = diagnose_finding};
  if (call == "reduce_scatter") asked.expected = complete_in_own_chunk;
  if (call == "all_gather") asked.expected = everybodys_chunk;
  return asked;
}

}  // namespace lab09
