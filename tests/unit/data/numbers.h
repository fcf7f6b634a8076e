// Datasets whose samples are numbers, for tests of those that read them.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/fail.h"
#include "dist/data/data_loader.h"

namespace dist::data::test {

// Sample i: input f32 [2] = {i, -i}, target i64 [] = i.
inline Sample number(std::int64_t i) {
  Tensor target = empty({}, DType::i64);
  target.data<std::int64_t>()[0] = i;
  const auto value = static_cast<float>(i);
  return {tensor({value, -value}), target};
}

class Numbers : public Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t broken = -1) : size_(size), broken_(broken) {}
  std::int64_t size() const override { return size_; }
  Sample get(std::int64_t index) const override {
    if (index == broken_) fail(Errc::invalid_argument, "sample {} is broken", index);
    return number(index);
  }

 private:
  std::int64_t size_, broken_;
};

// The same numbers as a stream, which every worker reads to its end.
class NumberStream : public IterableDataset {
 public:
  explicit NumberStream(std::int64_t size, std::int64_t broken = -1) : numbers_(size, broken) {}
  SampleStream open(Shard shard) const override {
    SampleStream all = [this, next = std::int64_t{0}]() mutable -> std::optional<Sample> {
      if (next == numbers_.size()) return std::nullopt;
      return numbers_.get(next++);
    };
    return keep_shard(std::move(all), shard);
  }

 private:
  Numbers numbers_;
};

// The targets of all batches of an epoch.
inline std::vector<std::vector<std::int64_t>> targets_of(const DataLoader& loader) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& [inputs, targets] : loader) all.push_back(targets.to_vector<std::int64_t>());
  return all;
}

}  // namespace dist::data::test
