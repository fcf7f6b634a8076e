// Lab 13, the contract: which samples a rank reads, so that all ranks together read every one of them.
// You write these functions in distributed_sampler.cpp; this file stays as it is.
//
// Parts 1 to 4 are arithmetic: no rank asks another one. They use nothing of the library.
// Not for this lab: dist::data
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lab {

// Part 1. The numbers 0, 1, ..., n - 1 in the order of torch.randperm(n) after manual_seed(seed). That order
// is made as follows. The generator is mt19937 (std::mt19937 is the same), seeded with `seed`. For
// i = 0, 1, ..., n - 2 one draw: the element at i changes places with the one at i + draw % (n - i).
// n >= 0.
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed);

// The words are PyTorch's.
struct SamplerOptions {
  std::int64_t dataset_size = 0;  // samples, numbered from 0
  int num_replicas = 1;           // ranks that read this dataset
  int rank = 0;                   // 0 to num_replicas - 1
  bool shuffle = true;
  std::uint64_t seed = 0;  // the same on all ranks
  bool drop_last = false;
};

// Parts 2 and 3. One rank's part of a dataset whose size is known. All ranks get the same number of samples,
// whatever the sizes are. The ranks' samples are dealt out as cards are: the first to rank 0, the second to
// rank 1, and so on, then rank 0 again. Where the number of samples is no multiple of the ranks,
//  - without drop_last samples are repeated until it is: the list is continued with its own beginning, as
//    often as needed, and as little as possible;
//  - with drop_last the end of the list is left out, as little as possible.
// With `shuffle` the list is randperm(dataset_size, seed + epoch), otherwise 0, 1, 2, ...
// The epoch is 0 until set_epoch() is called.
class DistributedSampler {
 public:
  explicit DistributedSampler(const SamplerOptions& options) : options_(options) {}

  std::int64_t size() const;                  // part 2: samples of this rank
  std::vector<std::int64_t> indices() const;  // part 2: their numbers; part 3: shuffled
  void set_epoch(std::int64_t epoch);         // part 3: for the following calls of indices()

 private:
  SamplerOptions options_;
  std::int64_t epoch_ = 0;
};

// Samples that come one after the other. Nobody knows how many; there may be no end.
class Stream {
 public:
  virtual ~Stream() = default;
  // The next sample. Nothing at the end, and from then on.
  virtual std::optional<std::int64_t> next() = 0;
};

// Who reads: a worker is a process that loads samples for its rank.
struct Reader {
  int rank = 0, ranks = 1;
  int worker = 0, workers = 1;  // number and count of the workers of one rank, the same on all ranks
};

// Part 4. What one reader takes from its own copy of a stream; every copy brings the same samples. A round
// is `ranks` samples in a row, counted from the beginning of the stream. Then:
//  - of every round each rank gets exactly one sample;
//  - the workers of a rank get the rounds in turn: worker 0, worker 1, ..., then worker 0 again;
//  - a last round that is not whole is left out, so that all ranks get the same number of samples;
//  - a reader's samples keep the order of the stream;
//  - for one sample a reader reads at most ranks * workers from the stream.
class ShardedStream {
 public:
  // Keeps a reference to the stream, from which nothing has been read.
  ShardedStream(Stream& stream, const Reader& reader) : stream_(stream), reader_(reader) {}

  // This reader's next sample. Nothing at the end, and from then on.
  std::optional<std::int64_t> next();

 private:
  Stream& stream_;
  Reader reader_;
  std::int64_t rounds_ = 0;  // whole ones that have been read
};

// Part 5. An epoch of ranks that have different numbers of batches, and none knows the others'. Every rank
// calls this. Takes batches from next(), which says nothing when there are no more, and gives each to step(),
// which contains collectives of all ranks. It goes on as long as every rank has a batch. Then all ranks
// stop, and return the number of steps that they have made, the same on all ranks.
// Before each step, and once more to stop, the ranks ask each other by one all_reduce of one element (the
// library's, dist::all_reduce). No rank calls next() more than once for that.
std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t batch)>& step);

}  // namespace lab
