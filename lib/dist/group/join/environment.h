// Which rank is this? Reads what the launcher left in the environment: torchrun's variables (also set by
// distrun), Open MPI's, Slurm's.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace dist {

struct LaunchInfo {
  int rank = 0, world_size = 1;
  int local_rank = -1, local_world_size = -1;  // -1: the launcher did not say; rendezvous finds out
  int group_rank = 0;                          // the number of this node
  std::string
      store_address;  // where the store is: "tcp://10.0.0.1:29500", "unix://@..."; empty: a job of one
  bool store_is_external = false;  // the launcher keeps the store; otherwise rank 0 does
  std::string token;               // the job's token
  std::string launcher;            // "distrun", "torchrun", "mpirun", "srun", "env", "spawn"
  int restart_count = 0;
};

using GetEnv = std::function<std::optional<std::string>(const std::string&)>;

// Errors name the variable and its value: RANK without WORLD_SIZE, not a number, rank out of range, and, when
// nothing is set at all, how to start a program.
LaunchInfo read_environment(const GetEnv& get_env);
LaunchInfo read_environment();  // for this process

// Whether a launcher has started this process as one of its ranks, so that init_process_group() will find a
// job. If not, the process may start ranks of its own, by spawn().
bool is_launched(const GetEnv& get_env);
bool is_launched();  // this process

// getenv, as a GetEnv.
inline std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dist
