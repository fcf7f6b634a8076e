// What the grading of lab 09 is made of: the ring's expected values, and what it may send.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "judge/sums.h"

namespace lab09 {

using judge::Sum, judge::SumsAsked;

// Adds what is expected of this call, and the wrong ideas about it.
SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums);

// These check one call, on topology "rounds": messages go to neighbours only, and the numbers of messages,
// bytes and steps are those of the contract.
void expect_ring_traffic(const SumsAsked& asked);
void expect_little_scratch(const SumsAsked& asked);
// The memory of whole processes, for 64 MiB of data.
void expect_little_memory(const std::string& call);
// A call among four ranks or more, while the program around it has messages of its own under way.
void expect_apart(const SumsAsked& asked);

// What the ranks of all_reduce_pipelined() have sent, as the grader sees it: a sum made by large_sum(), with
// marks (marks.h), whose segments are all equally long.
class SentSegments {
 public:
  explicit SentSegments(const Sum& sum) : sum_(sum), of_(static_cast<std::size_t>(sum.ranks())) {}

  judge::Watch watch();  // for one run
  // Whether each sum that was sent had been made by add(), of what had arrived, before it was handed over: a
  // process itself says when it adds, but the content of its messages does not depend on its word.
  // Additions made otherwise, or told of at another time, take no virtual time when they are made, so they
  // would be hidden whatever the program does. Otherwise the test has failed.
  bool check_additions(const SumsAsked& asked, const judge::SimRun& done) const;

 private:
  struct Segment {
    std::int64_t at = 0;  // ps of virtual time
    int parts = 0;        // how many ranks' numbers are summed in it; 0: it is not such a sum
    int chunk = -1;
  };

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(sum_.segment * sum_.item_bytes()); }
  Segment segment_of(int rank, std::span<const std::byte> message) const;
  // When the rank had added how many bytes: none of them before it has arrived, none twice.
  std::vector<std::pair<std::int64_t, std::uint64_t>> added(const judge::SimRun& done,
                                                            std::size_t rank) const;

  const Sum sum_;
  std::vector<std::vector<Segment>> of_;  // [rank], in the order of sending
};

// In virtual time, on a laptop.
void expect_adding_is_hidden(SumsAsked asked);

}  // namespace lab09
