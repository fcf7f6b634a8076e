// What a training run reads: samples that are read by number (Dataset) or one after another
// (IterableDataset), and the batches that are made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "dist/core/tensor.h"
#include "dist/data/shard.h"

namespace dist::data {

// One sample: the input of the model, and the expected output.
struct Sample {
  Tensor input;   // [...]
  Tensor target;  // [...]; a class is a scalar: i64 []
};

// b samples, with one more axis in front.
struct Batch {
  Tensor inputs;   // [b, ...]
  Tensor targets;  // [b, ...]

  std::int64_t size() const { return inputs.size(0); }
};

class PinnedMemory;

// One batch of these samples (at least one), with their values copied; in pinned memory, if given. Throws
// Error{invalid_argument}, which names the first sample whose shapes or dtypes are not those of sample 0.
Batch stack(std::span<const Sample> samples, PinnedMemory* pinned = nullptr);

// Map-style: every sample has a number, and any order is possible.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;  // samples
  // Sample `index` of 0 ... size() - 1, always the same. Throws Error{invalid_argument} for another number.
  // The threads of a loader call it at the same time.
  virtual Sample get(std::int64_t index) const = 0;
};

// Returns the next item with every call, and nothing after the last one. May throw. Used by one thread at a
// time.
template <class T>
using Generator = std::function<std::optional<T>()>;
using SampleStream = Generator<Sample>;

// Iterable: samples come in one order only, and their number may be unknown.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  // The samples of that shard and no others, from the beginning. A dataset that reads through all samples
  // passes them through keep_shard(); one that can skip (one file per worker) uses the shard's numbers
  // itself.
  virtual SampleStream open(Shard shard) const = 0;
};

// The samples of `all` that are in the shard: numbers index, index + count, ..., counted from 0.
SampleStream keep_shard(SampleStream all, Shard shard);

}  // namespace dist::data
