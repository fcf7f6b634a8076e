// The environment of a rank: every variable that torchrun sets, and distlab's own two.
#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace distrun {

// The place of this node in the job.
struct Place {
  int node_rank = 0, nodes = 1;
  int first_rank = 0, local_size = 1, world_size = 1;
  int first_role_rank = 0, role_size = 1;  // the same, counting only the nodes of this node's --role
  std::string master_addr;                 // rank 0 may listen here, at the port below
  int master_port = 0;
  std::string store_address;  // of distrun's own store: "tcp://127.0.0.1:40321"
  std::string token;          // of the job
};

// Returns `base` (NAME=value, ...) with the rank's variables added or replaced. As with torchrun,
// OMP_NUM_THREADS is 1 when several ranks share the node and `base` does not set it. `error_file` may be
// empty.
std::vector<std::string> rank_environment(const std::vector<std::string>& base, const Options& options,
                                          const Place& place, int local_rank, int attempt,
                                          const std::string& error_file);

std::vector<std::string> own_environment();

bool sets_omp_threads(const std::vector<std::string>& base, const Place& place);  // as above

}  // namespace distrun
