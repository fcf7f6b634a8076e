#include "dist/backend/mpi/communicator.h"

#include <cstdlib>

#include "dist/backend/mpi/library.h"
#include "dist/core/fail.h"

namespace dist::mpi {
namespace {

struct World {
  int rank = 0, size = 1;
};

// Where mpirun did not start this process, MPI would be a world of one: useless when the job has more ranks.
bool is_one_of_many() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized || std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK");
}

World world() {
  World found;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &found.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &found.size), "MPI_Comm_size");
  return found;
}

bool shares_a_process(Endpoint& endpoint) {
  for (int peer = 0; peer < endpoint.world_size(); ++peer)
    if (endpoint.link_kind(peer) == "thread") return true;
  return false;
}

void expect_the_job_is_mpis(Endpoint& endpoint) {
  const int rank = endpoint.rank(), ranks = endpoint.world_size();
  const auto refuse = [&](const std::string& why) {
    fail(Errc::unsupported,
         "rank {}: backend \"mpi\": {}; start the ranks with mpirun -n {} PROGRAM, or use backend \"host\"",
         rank, why, ranks);
  };
  if (shares_a_process(endpoint))
    refuse("several ranks of this job are threads of one process, which MPI takes for one rank");
  if (ranks > 1 && !is_one_of_many())
    refuse(fmt::format("the {} ranks of this job were not started with mpirun, so MPI cannot connect them",
                       ranks));
  begin();
  const World known = world();
  if (known.size != ranks || known.rank != rank)
    refuse(fmt::format("this is rank {} of {}, but to MPI it is rank {} of {}", rank, ranks, known.rank,
                       known.size));
}

}  // namespace

Communicator::Communicator(const BackendContext& context)
    : rank_(context.rank), size_(context.members.size()) {
  expect_the_job_is_mpis(*context.endpoint);
  const int tag = static_cast<int>(context.context % static_cast<std::uint32_t>(highest_tag()));
  const auto lock = turn();
  MPI_Group everybody = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &everybody), "MPI_Comm_group");
  check(MPI_Group_incl(everybody, size_, context.members.list().data(), &members), "MPI_Group_incl");
  check(MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &handle_), "MPI_Comm_create_group");
  MPI_Group_free(&members);
  MPI_Group_free(&everybody);
  check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Communicator::~Communicator() {
  if (!is_running()) return;
  const auto lock = turn();
  MPI_Comm_free(&handle_);
}

}  // namespace dist::mpi
