#include "dist/backend/entries.h"
#include "dist/core/fail.h"

namespace dist::sim {
namespace {
constexpr const char* reason =
    "the sim backend is not part of this version yet; use backend \"host\" with ranks as threads or "
    "processes";
}

bool available(std::string* why) {
  if (why) *why = reason;
  return false;
}

std::unique_ptr<Backend> make(const BackendContext&) { fail(Errc::unsupported, "{}", reason); }

}  // namespace dist::sim
