// take_query() reads "?rank=..&world_size=.."; read_environment() replaces the variables that the options
// override, and asks MPI (read_with_mpi()) where the environment does not say where rank 0 is.
#include "dist/group/join/init_method.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "dist/backend/entries.h"
#include "dist/core/fail.h"
#include "dist/store/socket.h"

namespace dist {
namespace {

constexpr std::string_view tcp_scheme = "tcp://", file_scheme = "file://";

[[noreturn]] void refuse(const std::string& method, std::string_view why, CallSite where) {
  fail(Errc::invalid_argument,
       "init_process_group at {}: init_method '{}': {}; it may be env://, tcp://host:port or file:///path, "
       "with ?rank=..&world_size=..",
       where.str(), method, why);
}

void take_query(std::string_view query, const std::string& method, InitMethod& asked) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::string_view name = pair.substr(0, pair.find('='));
    const std::string_view digits = pair.substr(std::min(pair.size(), name.size() + 1));
    int* target = name == "rank" ? &asked.rank : name == "world_size" ? &asked.world_size : nullptr;
    if (!target) refuse(method, fmt::format("'{}' is neither rank nor world_size", name), asked.where);
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      refuse(method, fmt::format("{} is '{}', which is not a number", name, digits), asked.where);
    }
    if (*target != -1 && *target != value) {
      refuse(method, fmt::format("{} is {} in init_method and {} in the options", name, value, *target),
             asked.where);
    }
    *target = value;
  }
}

// The environment with some variables replaced.
GetEnv replaced(const GetEnv& get_env, std::map<std::string, std::string> values) {
  return [&get_env, values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? get_env(name) : std::optional(found->second);
  };
}

// mpirun started ranks on several hosts, and backend "mpi" is theirs: MPI says where rank 0 is.
LaunchInfo read_with_mpi(const GetEnv& get_env) {
  constexpr auto unknown = "unix://@to-be-found";
  LaunchInfo info = read_environment(replaced(get_env, {{"DIST_STORE", unknown}}));
  info.store_is_external = false;
  info.store_address = "tcp://" + mpi::rank_0_address(info.rank, info.world_size);
  return info;
}

bool names_mpi(const InitOptions& options, const GetEnv& get_env) {
  return options.backend == "mpi" || (options.backend == "auto" && get_env("DIST_BACKEND") == "mpi");
}

}  // namespace

InitMethod read_init_method(const InitOptions& options, const GetEnv& get_env, CallSite where) {
  InitMethod asked{options.init_method, options.rank, options.world_size, where, names_mpi(options, get_env)};
  const auto mark = asked.method.find('?');
  if (mark != std::string::npos) {
    take_query(std::string_view(options.init_method).substr(mark + 1), options.init_method, asked);
    asked.method.resize(mark);
  }
  if (options.store) asked.method = "store";
  return asked;
}

LaunchInfo read_environment(const InitMethod& asked, const GetEnv& get_env) {
  const bool both_given = asked.rank != -1 && asked.world_size != -1;
  if (!asked.is_env()) {
    if (both_given) return {};
    // It does not matter where the environment would have the store, and that may be missing.
    return read_environment(replaced(get_env, {{"DIST_STORE", asked.method}}));
  }
  if (!both_given && asked.by_mpi && needs_mpi_to_find_rank_0(get_env)) return read_with_mpi(get_env);
  if (!both_given) return read_environment(get_env);
  return read_environment(replaced(
      get_env, {{"RANK", std::to_string(asked.rank)}, {"WORLD_SIZE", std::to_string(asked.world_size)}}));
}

void place_store(const InitOptions& options, const InitMethod& asked, const GetEnv& get_env,
                 RendezvousPlan& plan) {
  plan.launch.token = get_env("DIST_JOB_TOKEN").value_or("distlab");
  plan.launch.store_is_external = false;
  plan.launch.store_address.clear();
  if (options.store) {
    plan.launch.launcher = "store";
    plan.store = options.store;
  } else if (asked.method.starts_with(tcp_scheme)) {
    plan.launch.launcher = "tcp";
    plan.launch.store_address = asked.method;
    if (parse_address(asked.method).port == 0 && plan.launch.world_size > 1)
      refuse(options.init_method, "port 0 means any free port, which the other ranks could not know",
             asked.where);
  } else if (asked.method.starts_with(file_scheme)) {
    plan.launch.launcher = "file";
    plan.path = asked.method.substr(file_scheme.size());
    if (!plan.path.starts_with('/')) refuse(options.init_method, "the path must begin with '/'", asked.where);
  } else {
    refuse(options.init_method, "unknown scheme", asked.where);
  }
}

}  // namespace dist
