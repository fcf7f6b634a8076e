// What a launcher left in the environment. from_launcher() decides which launcher it was; from_torchrun()
// reads torchrun's variables, and torchrun_store() the address of the store. unread_launcher() knows the
// launchers that distlab recognises and does not read.
#include "dist/group/join/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <arpa/inet.h>

#include "dist/core/fail.h"
#include "dist/group/join/launch_variables.h"

namespace dist {
namespace {

constexpr RankNames torchrun_names{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};

int rank_below(const Variables& vars, const char* name, int size, const char* size_name) {
  const int rank = vars.number(name, 0, most_ranks);
  if (rank >= size) {
    fail(Errc::invalid_argument, "{} is {}, but {} is {}: ranks go from 0 to {}", name, rank, size_name, size,
         size - 1);
  }
  return rank;
}

std::string torchrun_store(const Variables& vars, const LaunchInfo& info, const std::string& run_id) {
  if (!vars.has("MASTER_ADDR")) {
    if (info.world_size == 1) return "";
    fail(Errc::invalid_argument,
         "RANK is {} and WORLD_SIZE is {}, but MASTER_ADDR is not set: it names the host of rank 0 "
         "(127.0.0.1 when "
         "all run here), MASTER_PORT a free port there",
         info.rank, info.world_size);
  }
  // torchrun keeps a store of its own at MASTER_PORT, which speaks another protocol.
  const std::string agent_store = vars.find("TORCHELASTIC_USE_AGENT_STORE").value_or("False");
  if (agent_store != "True" && agent_store != "1") return master_address(vars, default_master_port);
  const int taken = vars.number_or("MASTER_PORT", default_master_port, 1, highest_port);
  if (info.local_world_size == info.world_size) {
    return local_address(fmt::format("{}-{}-{}", run_id, taken, info.restart_count));
  }
  const int ours = vars.number_or("DIST_MASTER_PORT", taken + 1, 1, highest_port + 1);
  if (ours > highest_port) {
    fail(Errc::invalid_argument,
         "MASTER_PORT is {}, and torchrun's own store is there: set DIST_MASTER_PORT to "
         "another free port of rank 0's host",
         taken);
  }
  return tcp_address("MASTER_ADDR", *vars.find("MASTER_ADDR"), ours);
}

LaunchInfo from_torchrun(const Variables& vars) {
  LaunchInfo info;
  read_ranks(vars, torchrun_names, info);
  info.group_rank = vars.number_or("GROUP_RANK", 0, 0, most_ranks);
  info.restart_count = vars.number_or("TORCHELASTIC_RESTART_COUNT", 0, 0, most_ranks);
  const auto run_id = vars.find("TORCHELASTIC_RUN_ID");
  info.launcher = vars.has("DIST_STORE") ? "distrun" : run_id ? "torchrun" : "env";
  info.token = run_id ? fmt::format("run:{}", *run_id) : "distlab";
  if (!vars.has("DIST_STORE")) info.store_address = torchrun_store(vars, info, run_id.value_or("none"));
  return info;
}

bool says_torchrun(const Variables& vars) { return vars.has("RANK") || vars.has("WORLD_SIZE"); }

struct UnreadLauncher {
  const char *variable, *name;
};
// Each sets `variable` in every process that it starts.
constexpr std::array unread_launchers{
    UnreadLauncher{"MV2_COMM_WORLD_RANK", "MVAPICH2's mpirun_rsh"},
    UnreadLauncher{"PMIX_RANK", "a launcher with PMIx"},
    UnreadLauncher{"MPI_LOCALRANKID", "MPICH or Intel MPI"},
    UnreadLauncher{"OMPI_COMM_WORLD_LOCAL_RANK", "Open MPI"},
    UnreadLauncher{"FLUX_TASK_RANK", "Flux"},
    UnreadLauncher{"PALS_RANKID", "PALS"},
    UnreadLauncher{"ALPS_APP_PE", "aprun"},
    UnreadLauncher{"JSM_NAMESPACE_RANK", "jsrun"},
    UnreadLauncher{"LOCAL_RANK", "a launcher like torchrun"},
};

// Slurm comes first: it sets PMIx's variables, too.
const UnreadLauncher* unread_launcher(const Variables& vars) {
  static constexpr UnreadLauncher half_of_slurm{"SLURM_PROCID", "srun"};
  if (says_slurm(vars)) return nullptr;
  if (vars.has("SLURM_PROCID") && is_slurm_step(vars)) return &half_of_slurm;
  const auto found =
      std::ranges::find_if(unread_launchers, [&](const auto& each) { return vars.has(each.variable); });
  return found == unread_launchers.end() ? nullptr : &*found;
}

LaunchInfo from_launcher(const Variables& vars) {
  if (says_torchrun(vars)) return from_torchrun(vars);
  if (says_open_mpi(vars)) return from_open_mpi(vars);
  if (says_hydra(vars)) return from_hydra(vars);
  if (says_slurm(vars)) return from_slurm(vars);
  if (const UnreadLauncher* const other = unread_launcher(vars))
    fail(
        Errc::not_initialized,
        "{} is {}, so {} started this process, but RANK and WORLD_SIZE are not set: in a script under the "
        "launcher, set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and MASTER_ADDR from its variables and "
        "then start the program (labs/handbook/clusters.md)",
        other->variable, *vars.find(other->variable), other->name);
  fail(Errc::not_initialized,
       "this process was not started as a rank: RANK and WORLD_SIZE are not set; start it with distrun "
       "--nproc-per-node 4 PROGRAM (torchrun, mpirun, mpiexec and srun will do too), or call dist::spawn(4, "
       "...)");
}

}  // namespace

void read_ranks(const Variables& vars, const RankNames& names, LaunchInfo& info) {
  for (auto [set, missing] :
       {std::pair(names.rank, names.world_size), std::pair(names.world_size, names.rank)}) {
    if (vars.has(set) && !vars.has(missing)) {
      fail(Errc::invalid_argument, "{} is set, but {} is not: a rank needs both", set, missing);
    }
  }
  info.world_size = vars.number(names.world_size, 1, most_ranks);
  info.rank = rank_below(vars, names.rank, info.world_size, names.world_size);
  if (names.local_world_size && vars.has(names.local_world_size)) {
    info.local_world_size = vars.number(names.local_world_size, 1, info.world_size);
  }
  if (!vars.has(names.local_rank)) return;
  const bool known = info.local_world_size > 0;
  info.local_rank = rank_below(vars, names.local_rank, known ? info.local_world_size : info.world_size,
                               known ? names.local_world_size : names.world_size);
}

std::string tcp_address(const std::string& variable, std::string host, int port) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  in6_addr ignored;
  const std::string address = host.substr(0, host.find('%'));  // fe80::1%eth0 names its link
  if (inet_pton(AF_INET6, address.c_str(), &ignored) == 1) return fmt::format("tcp://[{}]:{}", host, port);
  if (host.empty() || host.find_first_of(":/[] ") != std::string::npos) {
    fail(Errc::invalid_argument, "{} is '{}': it must be a host name or an IP address, without port",
         variable, host);
  }
  return fmt::format("tcp://{}:{}", host, port);
}

int master_port(const Variables& vars, int fallback) {
  const char* name = vars.has("DIST_MASTER_PORT") ? "DIST_MASTER_PORT" : "MASTER_PORT";
  return vars.number_or(name, fallback, 1, highest_port);
}

std::string master_address(const Variables& vars, int fallback_port) {
  return tcp_address("MASTER_ADDR", *vars.find("MASTER_ADDR"), master_port(vars, fallback_port));
}

std::string local_address(std::string id) {
  constexpr std::size_t longest = 64;
  if (id.size() > longest) id = fmt::format("{}-{:x}", id.substr(0, 40), std::hash<std::string>()(id));
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; };
  std::ranges::replace_if(id, std::not_fn(plain), '_');
  return "unix://@distlab-" + id;
}

LaunchInfo read_environment(const GetEnv& get_env) {
  const Variables vars(get_env);
  LaunchInfo info = from_launcher(vars);
  if (auto store = vars.find("DIST_STORE")) {
    info.store_address = *store;
    info.store_is_external = true;
  }
  if (auto token = vars.find("DIST_JOB_TOKEN")) info.token = *token;
  return info;
}

LaunchInfo read_environment() { return read_environment(process_environment); }

bool is_launched(const GetEnv& get_env) {
  const Variables vars(get_env);
  if (says_torchrun(vars) || says_open_mpi(vars) || says_hydra(vars)) return true;
  if (says_slurm(vars)) return is_slurm_step(vars) && !is_slurm_shell(vars);
  return unread_launcher(vars) != nullptr;
}

bool is_launched() { return is_launched(process_environment); }

bool needs_mpi_to_find_rank_0(const GetEnv& get_env) {
  const Variables vars(get_env);
  return !says_torchrun(vars) && lacks_master(vars);
}

}  // namespace dist
