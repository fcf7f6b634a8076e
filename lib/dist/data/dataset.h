// What a training run reads: samples that have numbers (Dataset), or samples that come one after the other
// (IterableDataset); and what they become, batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "dist/core/tensor.h"
#include "dist/data/shard.h"

namespace dist::data {

// One sample: what goes into the model, and what should come out.
struct Sample {
  Tensor input;   // [...]
  Tensor target;  // [...]; a class is a scalar: i64 []
};

// b samples: one more axis in front.
struct Batch {
  Tensor inputs;   // [b, ...]
  Tensor targets;  // [b, ...]

  std::int64_t size() const { return inputs.size(0); }
};

class PinnedMemory;

// One batch of these samples, at least one, with their values copied. Error{invalid_argument} naming the
// first sample whose shapes or dtypes are not those of sample 0. In pinned memory, if given.
Batch stack(std::span<const Sample> samples, PinnedMemory* pinned = nullptr);

// Map-style: every sample has a number, and can be had in any order.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;  // samples
  // Sample `index` of 0 ... size() - 1, always the same; Error{invalid_argument} for another number. The
  // threads of a loader call it at the same time.
  virtual Sample get(std::int64_t index) const = 0;
};

// The next sample with every call, nothing after the last one. May throw. Used by one thread at a time.
using SampleStream = std::function<std::optional<Sample>()>;

// Iterable: samples come in one order only, and nobody need know how many there are.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  // From the beginning, the samples of that shard and no others: what reads through all samples passes them
  // through keep_shard(), what can skip (one file a worker) decides by the shard's numbers itself.
  virtual SampleStream open(Shard shard) const = 0;
};

// Of `all` samples those of the shard: numbers index, index + count, ..., counted from 0.
SampleStream keep_shard(SampleStream all, Shard shard);

}  // namespace dist::data
