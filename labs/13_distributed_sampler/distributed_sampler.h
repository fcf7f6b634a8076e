// Lab 13, the specification: which samples a rank reads, so that all ranks together read every one of them.
// You write these functions in distributed_sampler.cpp. Do not change this file.
//
// Parts 1 to 4 are arithmetic: no rank communicates with another, and nothing of the library is used.
// Not for this lab: dist::data
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lab {

// Part 1. A random permutation, the one that PyTorch computes from the same seed.
// - Input: n >= 0; the seed.
// - Output: the numbers 0, 1, ..., n - 1 in the order of torch.randperm(n) after manual_seed(seed).
// - Constraint: start with the list 0, 1, ..., n - 1 and the generator mt19937 (std::mt19937), seeded with
//   `seed`. For i = 0, 1, ..., n - 2, draw one number, and swap the elements at i and at i + draw % (n - i).
// - Example: randperm(5, 0) is {4, 0, 1, 3, 2}.
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed);

// The names are those of PyTorch.
struct SamplerOptions {
  std::int64_t dataset_size = 0;  // the number of samples; they are numbered from 0
  int num_replicas = 1;           // the number of ranks that read this dataset
  int rank = 0;                   // 0 to num_replicas - 1
  bool shuffle = true;
  std::uint64_t seed = 0;  // the same on all ranks
  bool drop_last = false;
};

// Parts 2 and 3. One rank's samples of a dataset of known size.
// - Output: all ranks get the same number of samples, whatever the sizes are. The list of samples is dealt
//   out like cards: the first to rank 0, the second to rank 1, and so on, then rank 0 again. With `shuffle`
//   the list is randperm(dataset_size, seed + epoch), otherwise 0, 1, 2, ... The epoch is 0 until set_epoch()
//   is called.
// - Constraint: if the number of samples is not a multiple of the number of ranks,
//   - without drop_last the list is continued with its own beginning, as often as needed and as little as
//     possible;
//   - with drop_last the end of the list is left out, as little as possible.
// - Example: 10 samples, 4 ranks, no shuffle: size() is 3, and rank 2 has {2, 6, 0}. With drop_last it is 2,
//   and rank 2 has {2, 6}.
class DistributedSampler {
 public:
  explicit DistributedSampler(const SamplerOptions& options) : options_(options) {}

  std::int64_t size() const;                  // Part 2: the number of this rank's samples
  std::vector<std::int64_t> indices() const;  // Part 2: their numbers; Part 3: shuffled
  void set_epoch(std::int64_t epoch);         // Part 3: for the following calls of indices()

 private:
  SamplerOptions options_;
  std::int64_t epoch_ = 0;
};

// A sequence of samples of unknown length. It may have no end. A sample is a number, 0 or larger.
class Stream {
 public:
  virtual ~Stream() = default;
  // Returns the next sample; std::nullopt at the end, and from then on.
  virtual std::optional<std::int64_t> next() = 0;
};

// One reader of a stream. A worker is a process that loads samples for its rank.
struct Reader {
  int rank = 0, ranks = 1;
  int worker = 0, workers = 1;  // the number of this worker, and of workers per rank (the same on all ranks)
};

// Part 4. One reader's samples of a stream.
// - Input: this reader's own copy of the stream; every copy delivers the same samples. A round is a run of
//   `ranks` consecutive samples, counted from the beginning of the stream.
// - Constraint:
//   - of every round, each rank gets exactly one sample;
//   - the workers of a rank get the rounds in turn: worker 0, worker 1, ..., then worker 0 again;
//   - an incomplete last round is left out, so that all ranks get the same number of samples;
//   - a reader's samples keep the order of the stream;
//   - for one sample, a reader reads at most ranks * workers samples from the stream.
// - Example: 14 samples, 4 ranks with 2 workers each: worker 0 of rank 2 gets 2 and 10, worker 1 gets 6.
class ShardedStream {
 public:
  // Keeps a reference to the stream, from which nothing has been read yet.
  ShardedStream(Stream& stream, const Reader& reader) : stream_(stream), reader_(reader) {}

  // Returns this reader's next sample; std::nullopt at the end, and from then on.
  std::optional<std::int64_t> next();

 private:
  Stream& stream_;
  Reader reader_;
  std::int64_t rounds_ = 0;  // the number of complete rounds that have been read
};

// Part 5. Runs an epoch on ranks that have different numbers of batches. Every rank calls it, and no rank
// knows the numbers of the others.
// - Input: next() returns this rank's next batch, any number, 0 and negative ones too; or std::nullopt if
//   there are no more. step(batch) makes one training step, which contains collectives of all ranks.
// - Output: the number of steps, the same on all ranks.
// - Constraint: the epoch continues as long as every rank has a batch; then all ranks stop. Before each step,
//   and once more to stop, all ranks call one all_reduce of at most 8 bytes (the library's,
//   dist::all_reduce), from which they learn whether every rank has a batch. No rank calls next() more than
//   once per all_reduce.
// - Example: four ranks have 3, 5, 4 and 7 batches. All return 3, after four all_reduces.
std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t batch)>& step);

}  // namespace lab
