#include "dist/backend/composed.h"

#include "dist/backend/entries.h"
#include "dist/backend/ordered_run.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist {

ComposedBackend::ComposedBackend(std::string_view of, const BackendContext& context)
    : OrderedBackend(of, context, context.endpoint), collectives_(context_) {}

void ComposedBackend::run_collective_now(const Operation& operation,
                                         const std::shared_ptr<StreamEvents>& points) {
  run_as(*this, operation, points);
}

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
  return std::make_unique<ComposedBackend>("sim", context);
}

}  // namespace sim

namespace host {

bool available(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  return std::make_unique<ComposedBackend>("host", context);
}

}  // namespace host
}  // namespace dist
