// Samplers: which samples of a map-style dataset an epoch visits, and in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/data/shard.h"

namespace dist::data {

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::vector<std::int64_t> indices() const = 0;  // those of one epoch
  virtual std::int64_t size() const = 0;                  // their number
};

// 0, 1, ..., n-1: for tests and evaluation.
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t dataset_size);
  std::vector<std::int64_t> indices() const override;
  std::int64_t size() const override { return size_; }

 private:
  std::int64_t size_;
};

// Numbers index, index + count, ... below n: each sample belongs to exactly one shard. For evaluation, where
// a sample that counts twice would falsify the accuracy. Shards differ in size by at most one, so a
// collective must not be called once per batch.
class ShardSampler : public Sampler {
 public:
  ShardSampler(std::int64_t dataset_size, Shard shard);
  std::vector<std::int64_t> indices() const override;
  std::int64_t size() const override;

 private:
  std::int64_t dataset_size_;
  Shard shard_;
};

struct DistributedSamplerOptions {
  int num_replicas = 1;  // ranks
  int rank = 0;
  bool shuffle = true;
  std::uint64_t seed = 0;  // the same on every rank, or their parts overlap
  bool drop_last = false;
};

// One rank's part of the dataset, index for index that of torch.utils.data.DistributedSampler. All ranks
// shuffle identically, by seed + epoch; rank r takes places r, r + n, r + 2n, ... of that order. Every rank
// gets the same number of samples, because a rank with one batch more would wait forever for the others in
// its next all-reduce. If the number of samples is not divisible, samples from the beginning of the order
// fill the gap (up to num_replicas - 1 are visited twice), or with drop_last the rest is omitted.
class DistributedSampler : public Sampler {
 public:
  // Throws Error{invalid_argument} for fewer than one rank, a rank out of range, or a negative size.
  explicit DistributedSampler(std::int64_t dataset_size, DistributedSamplerOptions options = {});

  // Call it before each epoch, on every rank: otherwise every epoch has the order of epoch 0.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

  std::vector<std::int64_t> indices() const override;
  std::int64_t size() const override;

 private:
  std::vector<std::int64_t> order() const;  // all samples

  std::int64_t dataset_size_;
  DistributedSamplerOptions options_;
  std::int64_t epoch_ = 0;
};

}  // namespace dist::data
