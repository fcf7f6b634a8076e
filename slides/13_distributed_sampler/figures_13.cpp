// Ten samples for four ranks, dealt by lab 13's solution; and a stream for four ranks with two workers each,
// by the rule of the course notes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "distributed_sampler.h"

namespace {

using Samples = std::vector<std::int64_t>;

constexpr int ranks = 4, samples = 10;

void deal() {
  const Samples order = lab::randperm(samples, 0);
  Samples unpadded, padded, dropped, dealt;
  for (int rank = 0; rank < ranks; ++rank) {
    const lab::DistributedSampler sampler({.dataset_size = samples, .num_replicas = ranks, .rank = rank});
    padded.push_back(sampler.size());
    dropped.push_back(lab::DistributedSampler(
                          {.dataset_size = samples, .num_replicas = ranks, .rank = rank, .drop_last = true})
                          .size());
    unpadded.push_back((samples - rank + ranks - 1) / ranks);
    fmt::print("rank {} reads {}\n", rank, fmt::join(sampler.indices(), " "));
  }
  const auto more = ranks * padded[0] - samples;
  for (int place = 0; place < samples + more; ++place) dealt.push_back(place % ranks);
  fmt::print("order {}\nthe beginning {}\n", fmt::join(order, "  "),
             fmt::join(order.begin(), order.begin() + more, "  "));
  fmt::print("to rank {}\nagain to rank {}\n", fmt::join(dealt.begin(), dealt.begin() + samples, "  "),
             fmt::join(dealt.begin() + samples, dealt.end(), "  "));
  fmt::print("no padding {}\npadding {}\ndrop_last {}\n", fmt::join(unpadded, ", "), fmt::join(padded, ", "),
             fmt::join(dropped, ", "));
}

// An evaluation of 10,000 pictures on 64 ranks: how many are read, and how many of them twice.
void evaluate() {
  constexpr int pictures = 10'000, many = 64;
  const auto read = many * lab::DistributedSampler({.dataset_size = pictures, .num_replicas = many}).size();
  fmt::print("evaluation {},{:03} {}\n", read / 1000, read % 1000, read - pictures);
}

void stream() {
  constexpr int workers = 2, length = 22;
  for (int rank = 0; rank < ranks; ++rank) {
    for (int worker = 0; worker < workers; ++worker) {
      Samples mine;
      for (int count = 0; count < length; ++count)
        if (count % ranks == rank && count % workers == worker) mine.push_back(count);
      fmt::print("rank {} worker {} {}\n", rank, worker,
                 mine.empty() ? "*nothing*" : fmt::format("{}", fmt::join(mine, " ")));
    }
  }
}

}  // namespace

int main() {
  deal();
  evaluate();
  stream();
}
