#include <algorithm>
#include <array>
#include <mutex>

#include <fmt/ranges.h>

#include "dist/backend/backend.h"
#include "dist/backend/entries.h"
#include "dist/backend/host_backend.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {
namespace {

bool always(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make_host_backend(const BackendContext& context) {
  return std::make_unique<HostBackend>("host", context);
}

constexpr std::array table{
    BackendEntry{"host", DeviceType::cpu, always, make_host_backend},
    BackendEntry{"cuda", DeviceType::cuda, cuda_backend::available, cuda_backend::make},
    BackendEntry{"nccl", DeviceType::cuda, nccl::available, nccl::make},
    BackendEntry{"mpi", DeviceType::cpu, mpi::available, mpi::make},
    BackendEntry{"sim", DeviceType::cpu, sim::available, sim::make},
};

// What a backend name of PyTorch's is called in distlab. `backend` empty: the error says what to use instead.
struct PyTorchName {
  std::string_view name, backend;
};
constexpr std::array pytorch_names{PyTorchName{"gloo", "host"}, PyTorchName{"ucc", ""}};

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

}  // namespace

std::span<const BackendEntry> backends() { return table; }

const BackendEntry& find_backend(std::string_view name) {
  const BackendEntry& entry = backend_named(name);
  std::string why;
  if (!entry.available(&why)) fail(Errc::unsupported, "backend \"{}\" cannot be used: {}", name, why);
  return entry;
}

const BackendEntry& backend_named(std::string_view asked) {
  const std::string_view name = translated(asked);
  std::vector<std::string_view> names{"auto"};
  for (const auto& entry : table) {
    names.push_back(entry.name);
    if (entry.name == name) return entry;
  }
  fail(Errc::invalid_argument, "backend \"{}\" does not exist; the backends are {}", name,
       fmt::join(names, ", "));
}

}  // namespace dist
