// DataLoader: how an epoch is opened, for a map-style dataset (worker w makes batches w, w + workers, ...)
// and for an iterable one (each worker reads its shard), and in both cases how the workers' results are read
// in turn.
#include "dist/data/data_loader.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "dist/core/fail.h"
#include "dist/data/interleave.h"
#include "dist/data/pinned_memory.h"

namespace dist::data {
namespace {

LoaderOptions checked(LoaderOptions options) {
  if (options.batch_size < 1)
    fail(Errc::invalid_argument, "DataLoader: batch_size is {}, at least 1 is needed", options.batch_size);
  if (options.workers < 0)
    fail(Errc::invalid_argument, "DataLoader: {} workers; 0 means that the caller loads", options.workers);
  if (options.prefetch < 1)
    fail(Errc::invalid_argument, "DataLoader: prefetch is {}, at least 1 is needed", options.prefetch);
  return options;
}

std::int64_t count_batches(std::int64_t samples, const LoaderOptions& options) {
  const bool is_one_short = samples % options.batch_size != 0 && !options.drop_last;
  return samples / options.batch_size + (is_one_short ? 1 : 0);
}

// Makes a batch of samples.
using Stack = std::function<Batch(std::span<const Sample>)>;

Stack stack_for(const LoaderOptions& options) {
  std::shared_ptr<PinnedMemory> pinned;
  if (options.pin_for != cpu) pinned = std::make_shared<PinnedMemory>(options.pin_for);
  return [pinned](std::span<const Sample> samples) { return dist::data::stack(samples, pinned.get()); };
}

// Runs the parts in threads, or without workers in the caller's thread.
template <class T>
Generator<T> run(std::vector<Generator<T>> parts, const LoaderOptions& options, std::int64_t ahead) {
  if (options.workers == 0) return std::move(parts.front());
  return interleave(std::move(parts), static_cast<std::size_t>(ahead));
}

// Worker w makes batches w, w + workers, ...; read in turn, these are all batches in order.
Generator<Batch> open_map(const Dataset& dataset, std::vector<std::int64_t> order,
                          const LoaderOptions& options, const Stack& stack) {
  const auto count = count_batches(static_cast<std::int64_t>(order.size()), options);
  const auto shared = std::make_shared<const std::vector<std::int64_t>>(std::move(order));
  const int workers = std::max(1, options.workers);
  std::vector<Generator<Batch>> parts;
  for (int worker = 0; worker < workers; ++worker) {
    parts.push_back([&dataset, stack, shared, count, workers,
                     size = static_cast<std::size_t>(options.batch_size),
                     batch = std::int64_t{worker}]() mutable -> std::optional<Batch> {
      if (batch >= count) return std::nullopt;
      const auto rest = std::span(*shared).subspan(static_cast<std::size_t>(batch) * size);
      std::vector<Sample> samples;
      for (const auto index : rest.first(std::min(size, rest.size()))) samples.push_back(dataset.get(index));
      batch += workers;
      return stack(samples);
    });
  }
  return run(std::move(parts), options, options.prefetch);
}

// Each worker reads its shard; taken in turn, sample by sample, these are the rank's samples in the dataset's
// order.
Generator<Batch> open_iterable(const IterableDataset& dataset, Shard rank, const LoaderOptions& options,
                               const Stack& stack) {
  const int workers = std::max(1, options.workers);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t ahead =
      options.prefetch > most / options.batch_size ? most : options.prefetch * options.batch_size;
  std::vector<SampleStream> parts;
  for (int worker = 0; worker < workers; ++worker) parts.push_back(dataset.open(rank.split(worker, workers)));
  return [stack, next = run(std::move(parts), options, ahead),
          size = static_cast<std::size_t>(options.batch_size),
          drop_last = options.drop_last]() -> std::optional<Batch> {
    std::vector<Sample> samples;
    while (samples.size() < size) {
      auto sample = next();
      if (!sample) break;
      samples.push_back(std::move(*sample));
    }
    if (samples.empty() || (drop_last && samples.size() < size)) return std::nullopt;
    return stack(samples);
  };
}

}  // namespace

DataLoader::DataLoader(const Dataset& dataset, const Sampler& sampler, LoaderOptions options)
    : open_([&dataset, &sampler, options, stack = stack_for(options)] {
        return open_map(dataset, sampler.indices(), options, stack);
      }),
      count_samples_([&sampler] { return sampler.size(); }),
      options_(checked(options)) {}

DataLoader::DataLoader(const Dataset& dataset, LoaderOptions options)
    : open_([&dataset, options, stack = stack_for(options)] {
        return open_map(dataset, SequentialSampler(dataset.size()).indices(), options, stack);
      }),
      count_samples_([&dataset] { return dataset.size(); }),
      options_(checked(options)) {}

DataLoader::DataLoader(const IterableDataset& dataset, Shard rank, LoaderOptions options)
    : open_([&dataset, rank, options, stack = stack_for(options)] {
        return open_iterable(dataset, rank, options, stack);
      }),
      options_(checked(options)) {
  rank.check();
}

std::int64_t DataLoader::size() const {
  if (!count_samples_)
    fail(Errc::unsupported,
         "the number of batches of an iterable dataset is known only at its end: loop until there are no "
         "more");
  return count_batches(count_samples_(), options_);
}

}  // namespace dist::data
