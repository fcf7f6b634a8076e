// The init_method of init_process_group(): "env://", "tcp://host:port" or "file:///path", which may be
// followed by
// "?rank=..&world_size=..".
#pragma once

#include <string>

#include "dist/core/call_site.h"
#include "dist/group/join/environment.h"
#include "dist/group/join/rendezvous_plan.h"
#include "dist/group/process_group.h"

namespace dist {

struct InitMethod {
  std::string method;    // without the query; "store" where the options have one
  int rank, world_size;  // from the options or the query; -1: not given
  CallSite where;        // the call of init_process_group
  bool by_mpi = false;   // the backend is "mpi"
  bool is_env() const { return method == "env://"; }
};

// Error{invalid_argument}: a query that makes no sense, or contradicts the options.
InitMethod read_init_method(const InitOptions& options, const GetEnv& get_env, CallSite where);
// What the launcher left in the environment, as far as `asked` does not say it itself. Collective where only
// MPI knows where rank 0 is: it begins MPI then.
LaunchInfo read_environment(const InitMethod& asked, const GetEnv& get_env);
// For all but env://: where the store is. Error{invalid_argument}: another scheme, or a place that the other
// ranks could not know.
void place_store(const InitOptions& options, const InitMethod& asked, const GetEnv& get_env,
                 RendezvousPlan& plan);

}  // namespace dist
