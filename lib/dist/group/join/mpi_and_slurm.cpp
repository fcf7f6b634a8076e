// The environments of Open MPI's mpirun and of Slurm's srun: from_open_mpi() and from_slurm(); slurm_store()
// chooses a port that the steps of a job do not share.
#include <algorithm>

#include "dist/group/join/launch_variables.h"
#include "dist/group/join/slurm_nodes.h"

namespace dist {
namespace {

constexpr RankNames open_mpi_names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr RankNames slurm_names{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr};

std::string slurm_store(const Variables& vars, const std::string& job, const std::string& step) {
  // Below the ports that systems use for outgoing connections; steps of one job may run at the same time.
  constexpr std::int64_t first_port = 15000, ports = 17000, between_steps = 1021;
  std::int64_t number = 0;  // stays 0 for a step that has a name
  std::from_chars(step.data(), step.data() + step.size(), number);
  const std::int64_t job_number = vars.number("SLURM_JOB_ID", 0, most_ranks);
  const int port = static_cast<int>(first_port + (job_number + number % ports * between_steps) % ports);
  if (vars.has("MASTER_ADDR")) return master_address(vars, port);
  const char* list_name = vars.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  const char* count_name = vars.has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_JOB_NUM_NODES";
  const std::string nodes = vars.find(list_name).value_or("");
  const auto first = nodes.empty() ? SlurmNodes{} : parse_slurm_nodes(list_name, nodes);
  const int count = vars.number_or(count_name, first.several ? 2 : 1, 1, most_ranks);
  if (count == 1) return local_address(job + '.' + step);
  if (nodes.empty()) {
    fail(Errc::invalid_argument,
         "{} is {}, but SLURM_STEP_NODELIST is not set: set MASTER_ADDR to rank 0's host", count_name, count);
  }
  return tcp_address(list_name, first.first, master_port(vars, port));
}

// The step that this process is part of. None in a batch script, although Slurm starts that as well.
std::optional<std::string> slurm_step(const Variables& vars) {
  return vars.first({"SLURM_STEP_ID", "SLURM_STEPID"});
}

}  // namespace

bool says_open_mpi(const Variables& vars) {
  return vars.has("OMPI_COMM_WORLD_RANK") || vars.has("OMPI_COMM_WORLD_SIZE");
}
bool says_slurm(const Variables& vars) { return vars.has("SLURM_PROCID") && vars.has("SLURM_NTASKS"); }
bool is_slurm_step(const Variables& vars) { return slurm_step(vars).has_value(); }

LaunchInfo from_open_mpi(const Variables& vars) {
  LaunchInfo info;
  info.launcher = "mpirun";
  read_ranks(vars, open_mpi_names, info);
  const auto job = vars.first({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
  info.token = fmt::format("mpirun:{}", job.value_or("?"));
  if (vars.has("DIST_STORE")) return info;
  if (vars.has("MASTER_ADDR")) {
    info.store_address = master_address(vars, default_master_port);
  } else if (job && info.local_world_size == info.world_size) {
    info.store_address = local_address(*job);
  } else {
    fail(Errc::invalid_argument,
         "mpirun started {} ranks, not all on this host, and MASTER_ADDR is not set: say where rank 0 runs "
         "with "
         "mpirun -x MASTER_ADDR=<its host> -x MASTER_PORT=<a free port there>",
         info.world_size);
  }
  return info;
}

LaunchInfo from_slurm(const Variables& vars) {
  LaunchInfo info;
  info.launcher = "srun";
  read_ranks(vars, slurm_names, info);
  const auto step = slurm_step(vars);
  if (!step) {
    fail(Errc::not_initialized,
         "SLURM_PROCID is {} and SLURM_NTASKS is {}, but there is no SLURM_STEP_ID: this is the batch script "
         "itself; "
         "start the ranks with srun PROGRAM (or distrun)",
         info.rank, info.world_size);
  }
  info.group_rank = vars.number_or("SLURM_NODEID", 0, 0, most_ranks);
  const std::string job = vars.find("SLURM_JOB_ID").value_or("");
  info.token = fmt::format("slurm:{}.{}", job, *step);
  if (!vars.has("DIST_STORE")) info.store_address = slurm_store(vars, job, *step);
  return info;
}

}  // namespace dist
