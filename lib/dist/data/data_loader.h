// DataLoader: the batches of an epoch, one after another, loaded by threads while the model computes.
//
//   data::Digits digits(60'000);
//   data::DistributedSampler sampler(digits.size(), {.num_replicas = world_size, .rank = rank});
//   data::DataLoader loader(digits, sampler, {.batch_size = 64, .workers = 1});
//   for (int epoch = 0; epoch < 2; ++epoch) {
//     sampler.set_epoch(epoch);
//     for (const auto& [inputs, targets] : loader) ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>

#include "dist/data/dataset.h"
#include "dist/data/sampler.h"

namespace dist::data {

struct LoaderOptions {
  std::int64_t batch_size = 1;
  bool drop_last = false;  // omits a last batch that is smaller
  int workers = 0;         // threads that load; 0: the caller does, when it asks for a batch
  int prefetch = 2;        // batches that each worker prepares in advance
  Device pin_for = cpu;    // a GPU: batches are in pinned memory (pinned_memory.h), which it copies faster
};

// The batches and their order do not depend on the number of workers.
class DataLoader {
 public:
  // The batches of an epoch, and the threads that load them, which end with it.
  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return &*batch_; }
    // Waits for the next batch. An exception of a worker is rethrown here, at the place of its batch; the
    // epoch is then over.
    Iterator& operator++() {
      batch_ = next_();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_; }

   private:
    friend class DataLoader;
    explicit Iterator(Generator<Batch> next) : next_(std::move(next)) { ++*this; }
    Generator<Batch> next_;
    std::optional<Batch> batch_;
  };

  // All arguments must outlive the loader. Throws Error{invalid_argument} for options that make no sense, and
  // Error{unsupported} if `pin_for` is a device that does not exist. Visits samples in the sampler's order,
  // which each begin() asks for anew.
  DataLoader(const Dataset& dataset, const Sampler& sampler, LoaderOptions options = {});
  // Samples 0 ... size() - 1.
  explicit DataLoader(const Dataset& dataset, LoaderOptions options = {});
  // This rank's part, Shard{rank, ranks}, split among the workers; in the dataset's order.
  DataLoader(const IterableDataset& dataset, Shard rank, LoaderOptions options = {});

  DataLoader(const Dataset&&, const Sampler&, LoaderOptions = {}) = delete;
  DataLoader(const Dataset&, const Sampler&&, LoaderOptions = {}) = delete;
  DataLoader(const Dataset&&, LoaderOptions = {}) = delete;
  DataLoader(const IterableDataset&&, Shard, LoaderOptions = {}) = delete;

  // Starts an epoch.
  Iterator begin() const { return Iterator(open_()); }
  std::default_sentinel_t end() const { return {}; }
  // Batches per epoch. Throws Error{unsupported} for an iterable dataset: the number is unknown before its
  // end.
  std::int64_t size() const;

 private:
  std::function<Generator<Batch>()> open_;       // an epoch
  std::function<std::int64_t()> count_samples_;  // per epoch; empty if that is not known
  LoaderOptions options_;
};

}  // namespace dist::data
