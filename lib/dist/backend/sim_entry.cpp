// The row "sim" of the backend table: the host's backend, for virtual ranks.
#include "dist/backend/entries.h"
#include "dist/backend/host_backend.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist::sim {
namespace {
constexpr const char* not_here = "this rank is not simulated; use sim::run() or ./distlab sim";
}

bool available(std::string* why) {
  const bool is_simulated = Tasking::current() != nullptr;
  if (why) *why = is_simulated ? "" : not_here;
  return is_simulated;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  if (!available(nullptr)) fail(Errc::unsupported, "{}", not_here);
  return std::make_unique<HostBackend>("sim", context);
}

}  // namespace dist::sim
