#include "dist/core/fail.h"

#include "distlab/bench/peer.h"
#include "distlab/build_info.h"

namespace distlab::bench {

std::unique_ptr<Peer> make_mpi_peer() {
  dist::fail(dist::Errc::unsupported, "this build has no MPI: {}", build_info().why_no_mpi);
}

}  // namespace distlab::bench
