// What the readers of launchers' environments share: torchrun's is environment.cpp; Open MPI's,
// hydra's and Slurm's are mpi_and_slurm.cpp.
#pragma once

#include <charconv>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include "dist/core/fail.h"
#include "dist/group/join/environment.h"

namespace dist {

inline constexpr int default_master_port = 29500;  // torchrun's
inline constexpr int highest_port = 65535;
inline constexpr int most_ranks = std::numeric_limits<int>::max();

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
  template <class Integer>
  Integer number(const std::string& name, int lowest, Integer highest) const {
    const std::string text = get_(name).value_or("");
    Integer value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > highest ||
        value < static_cast<Integer>(lowest)) {
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

// Reads the rank, the world size, and what is known of this node.
void read_ranks(const Variables& vars, const RankNames& names, LaunchInfo& info);
// "tcp://host:port"; `variable` named the host, in which an IPv6 address may be with or without brackets.
std::string tcp_address(const std::string& variable, std::string host, int port);
int master_port(const Variables& vars, int fallback);
std::string master_address(const Variables& vars, int fallback_port);  // MASTER_ADDR and its port
std::string local_address(std::string id);  // a local socket's name, made of ids that a launcher chose freely

bool says_open_mpi(const Variables& vars);
LaunchInfo from_open_mpi(const Variables& vars);
bool says_hydra(const Variables& vars);  // MPICH's and Intel MPI's mpiexec
LaunchInfo from_hydra(const Variables& vars);
// Whether mpirun or mpiexec started ranks on several hosts and nothing says where rank 0 is.
bool lacks_master(const Variables& vars);
bool says_slurm(const Variables& vars);  // set in a batch script too, which is not a rank
bool is_slurm_step(const Variables& vars);
bool is_slurm_shell(const Variables& vars);  // a step of one task, as "srun --pty bash" starts it
LaunchInfo from_slurm(const Variables& vars);

}  // namespace dist
