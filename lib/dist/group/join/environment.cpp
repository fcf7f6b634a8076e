// What a launcher left in the environment. from_torchrun(), from_open_mpi() and from_slurm() each read one
// launcher's variables, from_launcher() decides which; the address of the store comes from torchrun_store(),
// slurm_store() or MASTER_ADDR. Variables reads numbers and names what is wrong with them. read_timeout()
// reads DIST_TIMEOUT.
#include "dist/group/join/environment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <arpa/inet.h>

#include "dist/core/fail.h"
#include "dist/group/join/slurm_nodes.h"

namespace dist {
namespace {

constexpr int default_master_port = 29500;  // torchrun's
constexpr int highest_port = 65535;
constexpr int most_ranks = std::numeric_limits<int>::max();

// The environment, read with errors that name the variable and its value.
class Variables {
 public:
  explicit Variables(const GetEnv& get_env) : get_(get_env) {}

  bool has(const std::string& name) const { return get_(name).has_value(); }
  std::optional<std::string> find(const std::string& name) const { return get_(name); }
  // The first of several names that is set.
  std::optional<std::string> first(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (auto value = get_(name)) return value;
    }
    return std::nullopt;
  }
  int number(const std::string& name, int lowest, int highest) const {
    const std::string text = get_(name).value_or("");
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest) {
      if (highest == most_ranks)
        fail(Errc::invalid_argument, "{} is '{}': it must be a number, {} or more", name, text, lowest);
      fail(Errc::invalid_argument, "{} is '{}': it must be a number from {} to {}", name, text, lowest,
           highest);
    }
    return value;
  }
  int number_or(const std::string& name, int fallback, int lowest, int highest) const {
    return has(name) ? number(name, lowest, highest) : fallback;
  }

 private:
  const GetEnv& get_;
};

// The names under which a launcher says which rank this is.
struct RankNames {
  const char *rank, *world_size, *local_rank, *local_world_size;
};
constexpr RankNames torchrun_names{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr RankNames open_mpi_names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr RankNames slurm_names{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr};

int rank_below(const Variables& vars, const char* name, int size, const char* size_name) {
  const int rank = vars.number(name, 0, most_ranks);
  if (rank >= size) {
    fail(Errc::invalid_argument, "{} is {}, but {} is {}: ranks go from 0 to {}", name, rank, size_name, size,
         size - 1);
  }
  return rank;
}

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

// "tcp://host:port" from MASTER_ADDR, in which an IPv6 address may be with or without brackets.
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

// A name for a local socket, made of ids that the launcher chose freely.
std::string local_address(std::string id) {
  constexpr std::size_t longest = 64;
  if (id.size() > longest) id = fmt::format("{}-{:x}", id.substr(0, 40), std::hash<std::string>()(id));
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; };
  std::ranges::replace_if(id, std::not_fn(plain), '_');
  return "unix://@distlab-" + id;
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

bool says_torchrun(const Variables& vars) { return vars.has("RANK") || vars.has("WORLD_SIZE"); }
bool says_open_mpi(const Variables& vars) {
  return vars.has("OMPI_COMM_WORLD_RANK") || vars.has("OMPI_COMM_WORLD_SIZE");
}
bool says_slurm(const Variables& vars) { return vars.has("SLURM_PROCID") && vars.has("SLURM_NTASKS"); }

LaunchInfo from_launcher(const Variables& vars) {
  if (says_torchrun(vars)) return from_torchrun(vars);
  if (says_open_mpi(vars)) return from_open_mpi(vars);
  if (says_slurm(vars)) return from_slurm(vars);
  fail(Errc::not_initialized,
       "this process was not started as a rank: RANK and WORLD_SIZE are not set; start it with distrun "
       "--nproc-per-node 4 PROGRAM (torchrun, mpirun and srun will do too), or call dist::spawn(4, ...)");
}

}  // namespace

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
  return says_torchrun(vars) || says_open_mpi(vars) || (says_slurm(vars) && slurm_step(vars));
}

bool is_launched() { return is_launched(process_environment); }

Timeout read_timeout(const GetEnv& get_env) {
  const auto text = get_env("DIST_TIMEOUT");
  if (!text) return default_timeout;
  double seconds = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(seconds) || seconds <= 0) {
    fail(Errc::invalid_argument, "DIST_TIMEOUT is '{}': it must be a number of seconds greater than 0",
         *text);
  }
  constexpr double century = 100.0 * 365 * 24 * 3600;
  if (seconds > century) return no_timeout;
  return std::chrono::duration_cast<Timeout>(std::chrono::duration<double>(seconds));
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dist
