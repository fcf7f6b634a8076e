// Samplers: which samples of a map-style dataset an epoch visits, and in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/data/shard.h"

namespace dist::data {

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::vector<std::int64_t> indices() const = 0;  // of one epoch
  virtual std::int64_t size() const = 0;                  // how many these are
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

// Numbers index, index + count, ... below n: each sample belongs to one shard. For evaluation, where a sample
// that counts twice would make the accuracy wrong. Shards differ in size by at most one, so no collective may
// be called for each batch.
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
  std::uint64_t seed = 0;  // the same on every rank, or they get overlapping shares
  bool drop_last = false;
};

// The share of one rank, index for index that of torch.utils.data.DistributedSampler. All ranks shuffle
// alike, by seed + epoch; rank r takes places r, r + n, r + 2n, ... of that order. Every rank gets the same
// number, because one with a batch more than the others would wait for them for ever in its next all-reduce:
// what does not divide is filled up with samples from the beginning of the order (up to num_replicas - 1 are
// visited twice), or with drop_last left out.
class DistributedSampler : public Sampler {
 public:
  // Error{invalid_argument}: fewer than one rank, a rank out of range, a negative size.
  explicit DistributedSampler(std::int64_t dataset_size, DistributedSamplerOptions options = {});

  // Before each epoch, on every rank: without it every epoch has the order of epoch 0.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

  std::vector<std::int64_t> indices() const override;
  std::int64_t size() const override;

 private:
  std::vector<std::int64_t> order() const;  // of all samples

  std::int64_t dataset_size_;
  DistributedSamplerOptions options_;
  std::int64_t epoch_ = 0;
};

}  // namespace dist::data
