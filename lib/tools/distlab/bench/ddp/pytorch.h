// PyTorch's DistributedDataParallel with the same work, in processes beside ours.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace distlab {
class Dialogue;
}

namespace distlab::bench {

// Returns "PyTorch 1.13.1", the version of the system's python3 or of the Python that DISTLAB_PYTHON names.
// Throws Error{unsupported} that says how to install it when there is none.
std::string pytorch_title();

// One rank of PyTorch, beside one of ours. It works only during train().
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
  // Takes `steps` steps, like Training::train(), and blocks without spinning. Throws Error{peer_failed} when
  // the process has ended.
  Turn train(int steps);

 private:
  const std::unique_ptr<Dialogue> python_;
};

}  // namespace distlab::bench
