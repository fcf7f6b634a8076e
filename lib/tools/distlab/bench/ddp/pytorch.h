// PyTorch's DistributedDataParallel on the same work, in processes beside ours.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace distlab {
class Dialogue;
}

namespace distlab::bench {

// "PyTorch 1.13.1": of the system's python3, or of the one that DISTLAB_PYTHON names. Error{unsupported}
// saying how to install it when there is none.
std::string pytorch_title();

// One rank of it, beside one of ours. It works only while somebody waits in train().
class PyTorchRank {
 public:
  // The folder holds what Training::save() of all ranks has written.
  PyTorchRank(int rank, int ranks, const std::filesystem::path& folder);
  ~PyTorchRank();
  PyTorchRank(const PyTorchRank&) = delete;
  PyTorchRank& operator=(const PyTorchRank&) = delete;

  struct Turn {
    double seconds = 0, loss = 0;  // of all steps; of the last one
  };
  // So many steps, as Training::train(); blocks without a spin. Error{peer_failed} when the process ended.
  Turn train(int steps);

 private:
  const std::unique_ptr<Dialogue> python_;
};

}  // namespace distlab::bench
