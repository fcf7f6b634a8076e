// Lab 16, part 5: the tasks of train_model, and how the replies are read.
#pragma once

#include <nlohmann/json.hpp>

#include "support.h"

namespace lab16 {

// "file": the initial content of the checkpoint's path; "kill_after": the number of reads after which the
// rank is killed.
inline Json plan_of(const Asked& asked, bool checkpoint, const Json& more = Json::object()) {
  Json plan{{"epochs", asked.epochs.size()},
            {"checkpoint", checkpoint},
            {"file", nullptr},
            {"resume", false},
            {"kill_after", -1}};
  plan.update(more);
  return plan;
}

inline std::int64_t share_size(const Asked& asked) { return (asked.samples + asked.ranks - 1) / asked.ranks; }

// A rank's reads of its i-th epoch, in the order in which they were made.
inline Reads epoch_reads(const Asked& asked, const Json& reply, std::size_t i) {
  const Reads all = reply.at("reads");
  const auto size = static_cast<std::size_t>(share_size(asked));
  Reads reads;
  for (std::size_t at = i * size; at < std::min(all.size(), (i + 1) * size); ++at) reads.push_back(all[at]);
  std::ranges::sort(reads);
  return reads;
}

inline Reads right_reads(const Asked& asked, int rank, int epoch) {
  auto reads = share(asked, rank, epoch, asked.seed);
  std::ranges::sort(reads);
  return reads;
}

// Whether every rank has read, in its i-th epoch, the samples of epoch `epoch_of(i)`.
template <class F>
bool has_read(const Asked& asked, const std::vector<Json>& replies, std::size_t epochs, const F& epoch_of) {
  for (int rank = 0; rank < asked.ranks; ++rank)
    for (std::size_t i = 0; i < epochs; ++i)
      if (epoch_reads(asked, replies[static_cast<std::size_t>(rank)], i) !=
          right_reads(asked, rank, epoch_of(i)))
        return false;
  return true;
}

inline bool same_everywhere(const std::vector<Json>& replies) {
  return std::ranges::all_of(
      replies, [&](const Json& reply) { return reply.at("numbers") == replies[0].at("numbers"); });
}

// From rank 0's numbers at the end.
inline void diagnose_numbers(const Asked& asked, const Json& numbers, const std::vector<Idea>& ideas) {
  for (const Idea& idea : ideas) {
    if (distance(trained(asked, idea.way).numbers[0], numbers_of(numbers)) > near) continue;
    return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab16
