// Brings options, rank context and environment together. parse() splits the init_method and its query;
// who_am_i() takes rank and world size from the options, else from spawn or the environment;
// plan_rendezvous() adds where the store is.
#include "dist/group/join/rendezvous_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "dist/core/fail.h"
#include "dist/store/socket.h"

namespace dist {
namespace {

constexpr std::string_view env_scheme = "env://", tcp_scheme = "tcp://", file_scheme = "file://";

// The options, with "?rank=..&world_size=.." of init_method moved into the fields.
struct Asked {
  std::string method;
  int rank, world_size;
  CallSite where;
};

[[noreturn]] void refuse(const std::string& method, std::string_view why, CallSite where) {
  fail(Errc::invalid_argument,
       "init_process_group at {}: init_method '{}': {}; it may be env://, tcp://host:port or file:///path, "
       "with ?rank=..&world_size=..",
       where.str(), method, why);
}

void take_query(std::string_view query, const std::string& method, Asked& request) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::string_view name = pair.substr(0, pair.find('='));
    const std::string_view digits = pair.substr(std::min(pair.size(), name.size() + 1));
    int* target = name == "rank" ? &request.rank : name == "world_size" ? &request.world_size : nullptr;
    if (!target) refuse(method, fmt::format("'{}' is neither rank nor world_size", name), request.where);
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      refuse(method, fmt::format("{} is '{}', which is not a number", name, digits), request.where);
    }
    if (*target != -1 && *target != value) {
      refuse(method, fmt::format("{} is {} in init_method and {} in the options", name, value, *target),
             request.where);
    }
    *target = value;
  }
}

Asked parse(const InitOptions& options, CallSite where) {
  Asked request{options.init_method, options.rank, options.world_size, where};
  const auto mark = request.method.find('?');
  if (mark != std::string::npos) {
    take_query(std::string_view(options.init_method).substr(mark + 1), options.init_method, request);
    request.method.resize(mark);
  }
  return request;
}

// The environment with some variables replaced.
GetEnv replaced(const GetEnv& get_env, std::map<std::string, std::string> values) {
  return [&get_env, values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? get_env(name) : std::optional(found->second);
  };
}

// Rank and world size from the options; what is left out comes from spawn or the environment.
LaunchInfo who_am_i(const Asked& request, const RankContext& context, const GetEnv& get_env) {
  const bool both_given = request.rank != -1 && request.world_size != -1;
  LaunchInfo info;
  if (context.launch) {
    info = *context.launch;
  } else if (request.method != env_scheme) {
    // It does not matter where the environment would have the store, and that may be missing.
    if (!both_given) info = read_environment(replaced(get_env, {{"DIST_STORE", request.method}}));
  } else if (both_given) {
    info = read_environment(replaced(get_env, {{"RANK", std::to_string(request.rank)},
                                               {"WORLD_SIZE", std::to_string(request.world_size)}}));
  } else {
    info = read_environment(get_env);
  }
  if (request.rank != -1 && request.rank != info.rank) {
    info.local_rank = info.local_world_size = -1;  // the launcher's figures are for another rank
  }
  if (request.rank != -1) info.rank = request.rank;
  if (request.world_size != -1) info.world_size = request.world_size;
  if (info.world_size < 1 || info.rank < 0 || info.rank >= info.world_size) {
    fail(Errc::invalid_argument,
         "init_process_group at {}: rank {} of world size {}: ranks go from 0 to world size - 1",
         request.where.str(), info.rank, info.world_size);
  }
  return info;
}

}  // namespace

RendezvousPlan plan_rendezvous(const InitOptions& options, const RankContext& context, const GetEnv& get_env,
                               CallSite where) {
  const Asked request = parse(options, where);
  const std::string& method = request.method;
  RendezvousPlan plan;
  plan.timeout = options.timeout.value_or(read_timeout(get_env));
  if (plan.timeout <= Timeout::zero())
    fail(Errc::invalid_argument, "init_process_group at {}: the timeout must be greater than 0", where.str());
  if (method == env_scheme && !options.store) {
    plan.launch = who_am_i(request, context, get_env);
    plan.store = context.store;
    return plan;
  }
  plan.launch =
      who_am_i({options.store ? "store" : method, request.rank, request.world_size, where}, context, get_env);
  plan.launch.token = get_env("DIST_JOB_TOKEN").value_or("distlab");
  plan.launch.store_is_external = false;
  plan.launch.store_address.clear();
  if (options.store) {
    plan.launch.launcher = "store";
    plan.store = options.store;
  } else if (method.starts_with(tcp_scheme)) {
    plan.launch.launcher = "tcp";
    plan.launch.store_address = method;
    if (parse_address(method).port == 0 && plan.launch.world_size > 1) {
      refuse(options.init_method, "port 0 means any free port, which the other ranks could not know", where);
    }
  } else if (method.starts_with(file_scheme)) {
    plan.launch.launcher = "file";
    plan.path = method.substr(file_scheme.size());
    if (!plan.path.starts_with('/')) refuse(options.init_method, "the path must begin with '/'", where);
  } else {
    refuse(options.init_method, "unknown scheme", where);
  }
  return plan;
}

}  // namespace dist
