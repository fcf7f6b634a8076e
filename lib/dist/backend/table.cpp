#include <array>

#include <fmt/ranges.h>

#include "dist/backend/backend.h"
#include "dist/backend/entries.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

constexpr std::array table{
    BackendEntry{"host", DeviceType::cpu, host::available, host::make},
    BackendEntry{"cuda", DeviceType::cuda, cuda_backend::available, cuda_backend::make},
    BackendEntry{"nccl", DeviceType::cuda, nccl::available, nccl::make},
    BackendEntry{"mpi", DeviceType::cpu, mpi::available, mpi::make},
    BackendEntry{"sim", DeviceType::cpu, sim::available, sim::make},
};

}  // namespace

std::span<const BackendEntry> backends() { return table; }

const BackendEntry& find_backend(std::string_view name) {
  const BackendEntry& entry = backend_named(name);
  std::string why;
  if (!entry.available(&why)) fail(Errc::unsupported, "backend \"{}\" cannot be used: {}", name, why);
  return entry;
}

const BackendEntry& backend_named(std::string_view name) {
  std::vector<std::string_view> names{"auto"};
  for (const auto& entry : table) {
    names.push_back(entry.name);
    if (entry.name == name) return entry;
  }
  fail(Errc::invalid_argument, "backend \"{}\" does not exist; there are {}", name, fmt::join(names, ", "));
}

}  // namespace dist
