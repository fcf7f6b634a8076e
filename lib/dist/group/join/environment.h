// Which rank is this? Reads what the launcher left in the environment: torchrun's variables (also set by
// distrun), Open MPI's, hydra's (MPICH and Intel MPI), Slurm's.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "dist/group/rank_context.h"

namespace dist {

using GetEnv = std::function<std::optional<std::string>(const std::string&)>;

// Errors name the variable and its value: RANK without WORLD_SIZE, not a number, rank out of range, and, when
// nothing is set at all, how to start a program. A launcher that is recognised by its variables, but not
// read, is an error as well.
LaunchInfo read_environment(const GetEnv& get_env);
LaunchInfo read_environment();  // for this process

// Whether a launcher has started this process as one of its ranks, so that init_process_group() will find a
// job (or fail because it cannot read that launcher's variables). If not, the process may start ranks of its
// own, by spawn(); it may in a Slurm step of one task, which is what "srun --pty bash" gives.
bool is_launched(const GetEnv& get_env);
bool is_launched();  // this process

// Whether mpirun or mpiexec started ranks on several hosts, and no variable says where rank 0 is. MPI knows.
bool needs_mpi_to_find_rank_0(const GetEnv& get_env);

// getenv, as a GetEnv.
inline std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dist
