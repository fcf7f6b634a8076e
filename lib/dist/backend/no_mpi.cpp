#include "dist/backend/entries.h"
#include "dist/core/fail.h"

namespace dist::mpi {
namespace {
constexpr const char* reason =
    "the mpi backend is not part of this version yet; use backend \"host\", which also runs under mpirun";
}

bool available(std::string* why) {
  if (why) *why = reason;
  return false;
}

std::unique_ptr<Backend> make(const BackendContext&) { fail(Errc::unsupported, "{}", reason); }

}  // namespace dist::mpi
