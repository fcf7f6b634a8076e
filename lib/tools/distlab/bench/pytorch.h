// A program for PyTorch that takes turns with this one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {
class Dialogue;
}

namespace distlab::bench {

// Returns "PyTorch 1.13.1", the version of the system's python3 or of the Python that DISTLAB_PYTHON names.
// Throws Error{unsupported} that says how to install it when there is none.
std::string pytorch_title();

// It works only during train().
class PyTorch {
 public:
  PyTorch(std::string_view script, const std::vector<std::string>& arguments);
  ~PyTorch();
  PyTorch(const PyTorch&) = delete;
  PyTorch& operator=(const PyTorch&) = delete;

  // Has it take `steps` steps, and blocks without spinning until they are done. Returns the line with which
  // it answers. Throws Error{peer_failed} when the process has ended.
  std::string train(int steps);

 private:
  const std::unique_ptr<Dialogue> python_;
};

}  // namespace distlab::bench
