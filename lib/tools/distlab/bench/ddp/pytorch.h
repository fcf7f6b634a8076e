// PyTorch's DistributedDataParallel with the same work, in processes beside ours.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/bench/pytorch.h"

namespace distlab::bench {

// One rank of PyTorch, beside one of ours.
class PyTorchRank {
 public:
  // The folder holds what Training::save() of all ranks has written.
  PyTorchRank(int rank, int ranks, const std::filesystem::path& folder, const std::string& device);

  struct Turn {
    double seconds = 0, loss = 0;  // of all steps; of the last one
  };
  // Takes `steps` steps, like Training::train(). Throws Error{peer_failed} when the process has ended.
  Turn train(int steps);

 private:
  PyTorch python_;
};

}  // namespace distlab::bench
