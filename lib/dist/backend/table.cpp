#include <algorithm>
#include <deque>

#include <fmt/ranges.h>

#include "dist/backend/backend.h"
#include "dist/backend/entries.h"
#include "dist/backend/host_backend.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

bool always(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make_host_backend(const BackendContext& context) {
  return std::make_unique<HostBackend>("host", context);
}

// Those of this library, and then those of register_backend(). An entry stays where it is.
std::deque<BackendEntry>& table() {
  static std::deque<BackendEntry> all{
      BackendEntry{"host", DeviceType::cpu, always, make_host_backend},
      BackendEntry{"cuda", DeviceType::cuda, cuda_backend::available, cuda_backend::make},
      BackendEntry{"nccl", DeviceType::cuda, nccl::available, nccl::make},
      BackendEntry{"mpi", DeviceType::cpu, mpi::available, mpi::make},
      BackendEntry{"sim", DeviceType::cpu, sim::available, sim::make},
  };
  return all;
}

}  // namespace

const std::deque<BackendEntry>& backends() { return table(); }

void register_backend(const BackendEntry& entry) {
  if (entry.name == "auto" || translated(entry.name) != entry.name ||
      std::ranges::find(table(), entry.name, &BackendEntry::name) != table().end())
    fail(Errc::invalid_argument, "register_backend: \"{}\" is a backend's name already; take another",
         entry.name);
  table().push_back(entry);
}

const BackendEntry& find_backend(std::string_view name) {
  const BackendEntry& entry = backend_named(name);
  std::string why;
  if (!entry.available(&why)) fail(Errc::unsupported, "backend \"{}\" cannot be used: {}", name, why);
  return entry;
}

const BackendEntry& backend_named(std::string_view asked) {
  const std::string_view name = translated(asked);
  std::vector<std::string_view> names{"auto"};
  for (const auto& entry : table()) {
    names.push_back(entry.name);
    if (entry.name == name) return entry;
  }
  fail(Errc::invalid_argument, "backend \"{}\" does not exist; the backends are {}", name,
       fmt::join(names, ", "));
}

}  // namespace dist
