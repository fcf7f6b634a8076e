#include "dist/backend/entries.h"
#include "dist/core/fail.h"

namespace dist::mpi {
namespace {
// DIST_MPI_WHY: what CMake found out (lib/cmake/DistMpi.cmake).
constexpr const char* reason =
    "this build has no mpi backend: " DIST_MPI_WHY "; or use backend \"host\", which also runs under mpirun";
}  // namespace

bool available(std::string* why) {
  if (why) *why = reason;
  return false;
}

std::unique_ptr<Backend> make(const BackendContext&) { fail(Errc::unsupported, "{}", reason); }

std::string rank_0_address(int, int) { fail(Errc::unsupported, "{}", reason); }

}  // namespace dist::mpi
