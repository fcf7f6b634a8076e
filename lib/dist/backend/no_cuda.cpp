#include "dist/backend/entries.h"
#include "dist/core/fail.h"

namespace dist::cuda_backend {
namespace {
constexpr const char* reason =
    "the cuda backend is not part of this version yet; use backend \"host\" with tensors on the CPU";
}

bool available(std::string* why) {
  if (why) *why = reason;
  return false;
}

std::unique_ptr<Backend> make(const BackendContext&) { fail(Errc::unsupported, "{}", reason); }

}  // namespace dist::cuda_backend
