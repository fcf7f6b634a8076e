// A mutant is the solution with one function or class replaced. `#define randperm right_randperm` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else. A class needs its other name declared: RightSampler, RightStream.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "dist/dist.h"

#include "distributed_sampler.h"

namespace lab {

class RightSampler {
 public:
  explicit RightSampler(const SamplerOptions& options, std::int64_t epoch = 0)
      : options_(options), epoch_(epoch) {}
  std::int64_t size() const;
  std::vector<std::int64_t> indices() const;
  void set_epoch(std::int64_t epoch);

 private:
  SamplerOptions options_;
  std::int64_t epoch_;
};

class RightStream {
 public:
  RightStream(Stream& stream, const Reader& reader) : stream_(stream), reader_(reader) {}
  std::optional<std::int64_t> next();

 private:
  Stream& stream_;
  Reader reader_;
  std::int64_t rounds_ = 0;
};

}  // namespace lab

#define DIST_SOLUTION "solutions/13_distributed_sampler/distributed_sampler.cpp"
