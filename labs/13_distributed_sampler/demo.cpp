// Lab 13, the demonstration: samples dealt to four ranks, a rank with one step too many, and a worker that
// gets no samples.
//   ./distlab run 13
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "distributed_sampler.h"
#include "story.h"

namespace {

using story::say;

constexpr int ranks = 4;

void deal() {
  for (const int epoch : {0, 1}) {
    std::vector<std::string> parts;
    for (int rank = 0; rank < ranks; ++rank) {
      lab::DistributedSampler sampler({.dataset_size = 10, .num_replicas = ranks, .rank = rank});
      sampler.set_epoch(epoch);
      parts.push_back(fmt::format("rank {}: {}", rank, fmt::join(sampler.indices(), " ")));
    }
    say(fmt::format("   epoch {}   {}", epoch, fmt::join(parts, "    ")));
  }
}

// One all_reduce for each sample of this rank.
void make_steps(std::int64_t samples) {
  dist::init_process_group();
  for (std::int64_t i = 0; i < samples; ++i) {
    dist::Tensor gradient = dist::ones({1});
    dist::all_reduce(gradient);
  }
}

void hang() {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  const auto unpadded =
      dist::sim::run(options, [](int rank) { make_steps(10 / ranks + (rank < 10 % ranks ? 1 : 0)); });
  say("   Without padding the ranks have 3, 3, 2 and 2 samples. The simulator reports:\n");
  say(unpadded.findings.empty() ? "   no finding" : unpadded.findings.front().text());
  story::well(dist::sim::run(options, [](int rank) {
    make_steps(lab::DistributedSampler({.dataset_size = 10, .num_replicas = ranks, .rank = rank}).size());
  }));
  say("\n   With your size() all ranks took the same number of steps, and the epoch ended.");
}

// The stream 0, 1, 2, ..., samples - 1.
class Numbers : public lab::Stream {
 public:
  explicit Numbers(std::int64_t samples) : samples_(samples) {}
  std::optional<std::int64_t> next() override {
    return given_ < samples_ ? std::optional(given_++) : std::nullopt;
  }

 private:
  std::int64_t samples_, given_ = 0;
};

constexpr int workers = 2;

void show(const std::string& who, const std::vector<std::int64_t>& samples) {
  say(fmt::format("   {}   {}", who,
                  samples.empty() ? "nothing: it starves" : fmt::format("{:2}", fmt::join(samples, " "))));
}

void read_a_stream() {
  constexpr std::int64_t length = 22;
  const auto each_reader = [&](auto take) {
    for (int reader = 0; reader < ranks * workers; ++reader)
      show(fmt::format("rank {} worker {}", reader / workers, reader % workers),
           take(reader / workers, reader % workers));
  };
  say("   By count % 4 == rank and count % 2 == worker, the rule of the course notes:");
  each_reader([&](int rank, int worker) {
    std::vector<std::int64_t> mine;
    for (std::int64_t count = 0; count < length; ++count) {
      if (count % ranks == rank && count % workers == worker) mine.push_back(count);
    }
    return mine;
  });
  say("   By your ShardedStream (20 and 21 are an incomplete round):");
  each_reader([&](int rank, int worker) {
    Numbers stream(length);
    lab::ShardedStream reader(stream, {rank, ranks, worker, workers});
    std::vector<std::int64_t> mine;
    while (const auto sample = reader.next()) mine.push_back(*sample);
    return mine;
  });
}

// On each of four processes.
void stop_together(int rank) {
  dist::init_process_group();
  constexpr int batches[]{3, 5, 4, 7};
  int taken = 0;
  const auto next = [&]() -> std::optional<std::int64_t> {
    return taken < batches[rank] ? std::optional<std::int64_t>(taken++) : std::nullopt;
  };
  const auto steps = lab::run_epoch(next, [](std::int64_t) {
    dist::Tensor gradient = dist::ones({1});
    dist::all_reduce(gradient);
  });
  const auto lines = dist::gather_object(fmt::format("{} batches, {} steps", batches[rank], steps), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) say(fmt::format("   rank {}: {}", i, lines[i]));
  dist::destroy_process_group();
}

void tell() {
  say(fmt::format("1  Ten samples, shuffled:  {}\n", fmt::join(lab::randperm(10, 0), " ")));
  say("2  Dealt to four ranks, with padding");
  deal();
  say("\n3  Why padding is needed: one all_reduce per sample");
  hang();
  say("\n4  A stream of 22 samples, four ranks with two workers each");
  read_a_stream();
  say("\n5  Four processes with different numbers of batches");
  dist::spawn(ranks, stop_together);
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
