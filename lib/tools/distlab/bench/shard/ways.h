// The measured step: one GPT and AdamW, trained in each of the ways in which ranks with different rows of a
// batch can train it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/nn/gpt.h"

#include "distlab/bench/shard/options.h"

namespace distlab::bench {

// One way, on one rank. Every rank of the default group must make the same calls.
class Way {
 public:
  virtual ~Way() = default;
  // Takes a step on the same rows as the step before, and returns its loss.
  virtual double step() = 0;
  virtual std::string name() const = 0;
};

// All ways, each with a model of its own that begins with the same numbers. The first is
// DistributedDataParallel.
std::vector<std::unique_ptr<Way>> make_ways(const ShardBenchOptions& options);

}  // namespace distlab::bench
