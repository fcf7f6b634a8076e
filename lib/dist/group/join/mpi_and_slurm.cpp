// The environments of Open MPI's mpirun, of hydra (the mpiexec of MPICH and Intel MPI) and of Slurm's srun:
// from_open_mpi(), from_hydra() and from_slurm(). hydra_above() names a job of hydra on this host;
// slurm_store() chooses a port that the steps of a job do not share.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "dist/group/join/launch_variables.h"
#include "dist/group/join/slurm_nodes.h"

namespace dist {
namespace {

constexpr RankNames open_mpi_names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr RankNames hydra_names{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr RankNames slurm_names{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr};

std::string slurm_store(const Variables& vars, const std::string& job, const std::string& step) {
  // Below the ports that systems use for outgoing connections; steps of one job may run at the same time.
  constexpr std::int64_t first_port = 15000, ports = 17000, between_steps = 1021;
  std::int64_t number = 0;  // stays 0 for a step that has a name
  std::from_chars(step.data(), step.data() + step.size(), number);
  // Slurm's job numbers are 32-bit without sign; those of a federation have the cluster in the highest bits.
  const std::int64_t job_number = vars.number("SLURM_JOB_ID", 0, std::numeric_limits<std::uint32_t>::max());
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
  if (const auto way = vars.find("SLURM_DISTRIBUTION"); way && way->starts_with("arbitrary"))
    fail(Errc::invalid_argument,
         "SLURM_DISTRIBUTION is {}: rank 0 may be on any node of {}, so set MASTER_ADDR to its host, the "
         "first "
         "line of SLURM_HOSTFILE",
         *way, list_name);
  return tcp_address(list_name, first.first, master_port(vars, port));
}

// The step that this process is part of. None in a batch script, although Slurm starts that as well.
std::optional<std::string> slurm_step(const Variables& vars) {
  return vars.first({"SLURM_STEP_ID", "SLURM_STEPID"});
}

// Under srun --mpi=pmi2, Slurm sets PMI's variables as well, to its own numbers. Hydra in a job of Slurm
// starts one proxy per node by srun, and its ranks inherit the numbers of the proxy.
bool pmi_is_slurms(const Variables& vars) {
  return says_slurm(vars) && vars.find("PMI_RANK") == vars.find("SLURM_PROCID") &&
         vars.find("PMI_SIZE") == vars.find("SLURM_NTASKS");
}

// The hydra process that started this one, perhaps through a shell: "4711-88123", its number and start time,
// which are the same for all ranks of a job on this host. Empty: there is none.
std::string hydra_above() {
  constexpr int most_shells = 64, fields_between = 17;  // from the parent to the start time: proc(5)
  std::string pid = std::to_string(getppid());
  for (int i = 0; i < most_shells && pid != "0"; ++i) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string stat, parent, started;
    std::getline(file, stat);
    const auto name = stat.find('('), name_end = stat.rfind(')');
    if (name_end == std::string::npos) break;
    std::istringstream rest(stat.substr(name_end + 1));
    rest >> parent >> parent;  // after the state
    for (int field = 0; field <= fields_between; ++field) rest >> started;
    if (stat.compare(name + 1, 5, "hydra") == 0) return fmt::format("{}-{}", pid, started);
    pid = parent;
  }
  return "";
}

std::string mpi_address(const Variables& vars, const LaunchInfo& info, const std::string& job,
                        const char* sets_variable) {
  if (vars.has("MASTER_ADDR")) return master_address(vars, default_master_port);
  if (!job.empty() && info.local_world_size == info.world_size) return local_address(job);
  fail(Errc::invalid_argument,
       "{} started {} ranks, not all on this host, and MASTER_ADDR is not set: say where rank 0 runs with {}",
       info.launcher, info.world_size, sets_variable);
}

}  // namespace

bool says_open_mpi(const Variables& vars) {
  return vars.has("OMPI_COMM_WORLD_RANK") || vars.has("OMPI_COMM_WORLD_SIZE");
}
bool says_hydra(const Variables& vars) {
  return (vars.has("PMI_RANK") || vars.has("PMI_SIZE")) && !pmi_is_slurms(vars);
}
bool lacks_master(const Variables& vars) {
  if (vars.has("MASTER_ADDR") || vars.has("DIST_STORE")) return false;
  const RankNames& names = says_open_mpi(vars) ? open_mpi_names : hydra_names;
  return (says_open_mpi(vars) || says_hydra(vars)) &&
         vars.find(names.local_world_size) != vars.find(names.world_size);
}
bool says_slurm(const Variables& vars) { return vars.has("SLURM_PROCID") && vars.has("SLURM_NTASKS"); }
bool is_slurm_step(const Variables& vars) { return slurm_step(vars).has_value(); }
bool is_slurm_shell(const Variables& vars) {
  return vars.find("SLURM_NTASKS") == "1" || vars.has("SLURM_PTY_PORT");
}

LaunchInfo from_open_mpi(const Variables& vars) {
  LaunchInfo info;
  info.launcher = "mpirun";
  read_ranks(vars, open_mpi_names, info);
  const auto job = vars.first({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
  info.token = fmt::format("mpirun:{}", job.value_or("?"));
  if (!vars.has("DIST_STORE"))
    info.store_address =
        mpi_address(vars, info, job.value_or(""),
                    "mpirun -x MASTER_ADDR=<its host> -x MASTER_PORT=<a free port there>, or use "
                    "backend \"mpi\", which finds it");
  return info;
}

LaunchInfo from_hydra(const Variables& vars) {
  LaunchInfo info;
  info.launcher = "mpiexec";
  read_ranks(vars, hydra_names, info);
  const std::string job = hydra_above();
  info.token = "mpiexec";  // hydra has no name for a job that ranks on all hosts know
  if (!vars.has("DIST_STORE"))
    info.store_address =
        mpi_address(vars, info, job.empty() ? job : "hydra-" + job,
                    "mpiexec -genv MASTER_ADDR <its host> -genv MASTER_PORT <a free port there>");
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
