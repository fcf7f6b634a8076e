#include "dist/backend/host_backend.h"

#include "dist/backend/entries.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist {

HostBackend::HostBackend(std::string_view of, const BackendContext& context)
    : OrderedBackend(of, context, context.endpoint), collectives_(context_) {}

namespace sim {

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

}  // namespace sim

namespace host {

bool available(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  return std::make_unique<HostBackend>("host", context);
}

}  // namespace host
}  // namespace dist
