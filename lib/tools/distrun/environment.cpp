#include "environment.h"

#include <algorithm>
#include <map>

#include <unistd.h>

namespace distrun {
namespace {

std::string name_of(const std::string& entry) { return entry.substr(0, entry.find('=')); }

bool has(const std::vector<std::string>& base, const std::string& name) {
  return std::any_of(base.begin(), base.end(),
                     [&](const std::string& entry) { return name_of(entry) == name; });
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

bool sets_omp_threads(const std::vector<std::string>& base, const Place& place) {
  return place.local_size > 1 && !has(base, "OMP_NUM_THREADS");
}

std::vector<std::string> rank_environment(const std::vector<std::string>& base, const Options& options,
                                          const Place& place, int local_rank, int attempt,
                                          const std::string& error_file) {
  const auto number = [](int n) { return std::to_string(n); };
  const std::string rank = number(place.first_rank + local_rank), world_size = number(place.world_size);
  std::map<std::string, std::string> ours{
      {"RANK", rank},
      {"WORLD_SIZE", world_size},
      {"LOCAL_RANK", number(local_rank)},
      {"LOCAL_WORLD_SIZE", number(place.local_size)},
      {"GROUP_RANK", number(place.node_rank)},
      {"GROUP_WORLD_SIZE", number(place.nodes)},
      {"ROLE_NAME", options.role},
      {"ROLE_RANK", number(place.first_role_rank + local_rank)},
      {"ROLE_WORLD_SIZE", number(place.role_size)},
      {"MASTER_ADDR", place.master_addr},
      {"MASTER_PORT", number(place.master_port)},
      {"TORCHELASTIC_RESTART_COUNT", number(attempt)},
      {"TORCHELASTIC_MAX_RESTARTS", number(options.max_restarts)},
      {"TORCHELASTIC_RUN_ID", options.run_id},
      // Rank 0 hosts the store at MASTER_ADDR:MASTER_PORT. distrun's own store, below, has another protocol.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"DIST_STORE", place.store_address},
      {"DIST_JOB_TOKEN", place.token},
  };
  if (!error_file.empty()) ours["TORCHELASTIC_ERROR_FILE"] = error_file;
  if (!has(base, "TORCH_NCCL_ASYNC_ERROR_HANDLING")) ours["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1";
  if (sets_omp_threads(base, place)) ours["OMP_NUM_THREADS"] = "1";

  std::vector<std::string> result;
  for (const std::string& entry : base) {
    const std::string name = name_of(entry);
    if (ours.count(name) == 0 && name != "TORCHELASTIC_ERROR_FILE") result.push_back(entry);
  }
  for (const auto& [name, value] : ours) result.push_back(name + '=' + value);
  return result;
}

}  // namespace distrun
