#include <algorithm>
#include <array>
#include <mutex>

#include "dist/backend/entries.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {
namespace {

// What a backend name of PyTorch's is called in distlab. `backend` empty: the error says what to use instead.
struct PyTorchName {
  std::string_view name, backend;
};
constexpr std::array pytorch_names{PyTorchName{"gloo", "host"}, PyTorchName{"ucc", ""}};

}  // namespace

std::string_view translated(std::string_view name) {
  const auto found = std::ranges::find(pytorch_names, name, &PyTorchName::name);
  if (found == pytorch_names.end()) return name;
  if (found->backend.empty())
    fail(Errc::invalid_argument,
         "distlab has no backend \"{}\"; use \"auto\", which chooses nccl where every rank has a GPU of its "
         "own, cuda "
         "where ranks share one, and host on CPUs",
         name);
  static std::once_flag said;
  std::call_once(said, [&] {
    log(LogLevel::info, "backend \"{}\" is PyTorch's name; distlab calls it \"{}\"", name, found->backend);
  });
  return found->backend;
}

}  // namespace dist
