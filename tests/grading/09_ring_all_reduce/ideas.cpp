// Lab 09: what the ranks should have, and what they would have, were a wrong idea right.
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

// Were the complete chunk that of rank + `by`.
judge::Expected complete_beside(int by) {
  return [by](const Sum& sum, int rank, int i) {
    return sum.chunk_of(i) == wrapped(rank + by, sum.ranks()) ? sum.total(i) : any;
  };
}

// Chunk c comes to rank c + d after d - 1 others, each of which has added.
double summed_on_the_way(const Sum& sum, int first, int last, int i) {
  double total = 0;
  for (int k = first; k <= last; ++k) total += sum.at(wrapped(k, sum.ranks()), i);
  return total;
}

// In the second half what comes is added to the partial sum that lies there, and the result goes on.
double added_twice(const Sum& sum, int rank, int i) {
  const int c = sum.chunk_of(i), distance = wrapped(rank - c, sum.ranks());
  double total = sum.total(i);
  for (int d = 1; d <= distance; ++d) total += summed_on_the_way(sum, c + 1, c + d, i);
  return total;
}

// Where all chunks have length / n elements, and what is left over is nobody's.
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
    "the sums are right and on the wrong ranks: chunk `rank` must be complete on this rank, so the chunk "
    "that arrives last is the own one, and the one that leaves first is the one before it";
constexpr const char* short_in_words =
    "a step is missing: a chunk needs n - 1 steps to pass by all ranks, so s goes from 0 to n - 2";
constexpr const char* remainder_in_words =
    "the last elements were not summed: n chunks of length / n elements are not all elements when n does not "
    "divide the length. Take data.chunk(n)";
constexpr const char* twice_in_words =
    "more than the sum: in the second half chunks are complete, so what comes takes the place of the partial "
    "sum; it is not added to it";

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known = [] {
    std::vector<Idea> all{
        {"reduce_scatter", "off_by_one_chunk", off_by_one_in_words, complete_beside(1)},
        {"reduce_scatter", "off_by_one_chunk", off_by_one_in_words, complete_beside(-1)},
        {"reduce_scatter", "one_step_short", short_in_words,
         [](const Sum& s, int rank, int i) { return s.chunk_of(i) == rank ? s.at(rank, i) : any; }},
        {"reduce_scatter", "overwrites_its_own",
         "what came took the place of this rank's own numbers: receive into memory of its own, and add",
         [](const Sum& s, int rank, int i) {
           return s.chunk_of(i) == rank ? s.at(wrapped(rank + 1, s.ranks()), i) : any;
         }},
        {"all_gather", "passes_its_own_on",
         "in every step the rank sends its own chunk: from the second step on it is what came last that goes "
         "on",
         own_chunk_in_every_step},
        {"all_gather", "one_step_short", short_in_words, [](const Sum& s, int rank, int i) {
           const int c = s.chunk_of(i);
           return s.at(c == wrapped(rank + 1, s.ranks()) ? rank : c, i);
         }}};
    for (const char* call : {"ring_all_reduce", "all_reduce_pipelined"}) {
      all.push_back({call, "remainder_dropped", remainder_in_words, without_remainder});
      all.push_back({call, "sums_twice", twice_in_words, added_twice});
      all.push_back({call, "nothing_summed", "every rank has its own numbers still",
                     [](const Sum& s, int rank, int i) { return s.at(rank, i); }});
      all.push_back({call, "half_of_it",
                     "each rank has the sum of its own chunk only: the second half, all_gather, is missing",
                     complete_in_own_chunk});
    }
    return all;
  }();
  return known;
}

void diagnose_finding(const Finding& finding) {
  const auto sends = [](const auto& party) { return party.doing.find("send") != std::string::npos; };
  if (finding.code == Code::deadlock && std::ranges::all_of(finding.parties, sends)) {
    misconception(
        "everybody_sends_first",
        "in a ring everybody has somebody to send to: when all wait for their receiver first, nobody "
        "receives. Post the receive (irecv) before the send");
  } else if (finding.code == Code::overlap || finding.code == Code::changed_before_wait) {
    misconception("overwrites_what_leaves",
                  "a message arrives, or is added, where another one has not left yet: what leaves and what "
                  "arrives must be two places, and what leaves is sent once it is complete");
  } else if (finding.code == Code::read_before_wait) {
    misconception("adds_before_it_came", "what an irecv brings is there after its wait(), not before");
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
