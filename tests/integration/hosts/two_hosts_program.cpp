// Run by two_hosts.sh on two nodes of two ranks each: rendezvous, point-to-point and collectives across
// hosts, with shared memory inside a host and TCP between them.
#include <fmt/format.h>

#include "dist/dist.h"
#include "dist/group/job_state.h"

namespace {

void require(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(fmt::format("rank {}: {}", dist::get_rank(), what));
}

void check_links() {
  const auto endpoint = dist::default_group().state()->job->endpoint;
  const int rank = dist::get_rank(), neighbour = rank ^ 1;
  require(endpoint->link_kind(neighbour) == "shm", "the rank on this host is not reached by shared memory");
  for (int other : {(rank + 2) % 4, (neighbour + 2) % 4})
    require(endpoint->link_kind(other) == "tcp", "a rank on the other host is not reached by TCP");
}

}  // namespace

int main() {
  try {
    dist::init_process_group({.timeout = std::chrono::seconds(30)});
    const int rank = dist::get_rank(), n = dist::get_world_size();
    require(n == 4 && dist::get_local_rank() == rank % 2, "wrong numbering");
    check_links();
    for (std::int64_t size : {1L, 1000L, 3'000'000L}) {
      auto t = dist::full({size}, rank + 1);
      dist::all_reduce(t);
      require(dist::equal(t, dist::full({size}, 10)), "wrong all_reduce");
      auto got = dist::zeros({size});
      auto pair = dist::batch_isend_irecv(
          {{dist::P2P::isend, t, (rank + 1) % n}, {dist::P2P::irecv, got, (rank + 3) % n}});
      for (auto& work : pair) work.wait();
      require(dist::equal(got, t), "wrong message");
    }
    dist::destroy_process_group();
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
  fmt::print("two hosts: all is well\n");
}
