// PyTorch with the same work, in a process beside ours.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/bench/pytorch.h"
#include "distlab/bench/train/options.h"
#include "distlab/bench/train/turn.h"

namespace distlab::bench {

class PyTorchTrain {
 public:
  PyTorchTrain(const TrainBenchOptions& options, const std::filesystem::path& weights);
  // Throws Error{peer_failed} when the process has ended, or answers something else.
  TrainTurn train(int steps);
  const std::string& blas() const { return blas_; }  // the file that multiplies matrices; after a turn

 private:
  PyTorch python_;
  std::string blas_;
};

}  // namespace distlab::bench
