// What distrun was asked for on its command line: torchrun's flags, with dashes or underscores.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distrun {

// Where a stream of a rank goes: torchrun's 0 (console), 1 (stdout), 2 (stderr), 3 (both), for all ranks or
// each.
struct Streams {
  int everywhere = 0;
  std::map<int, int> by_rank;  // local rank
  bool is_any() const { return everywhere != 0 || !by_rank.empty(); }
  bool has(int local_rank, int stream) const;  // stream: 1 stdout, 2 stderr
};

struct Options {
  int nodes = 1;
  int nproc_per_node = 1;
  int node_rank = -1;  // -1: by arrival
  std::string
      endpoint_host;  // an IPv6 address in brackets; where the nodes meet; empty: one node, no meeting needed
  int endpoint_port = 0;
  std::optional<bool> hosts_endpoint;  // --rdzv-conf is_host=
  double join_timeout_s = 600;         // --rdzv-conf join_timeout=
  std::string master_addr;             // empty: node 0 decides
  int master_port = 0;                 // 0: a free one of node 0
  std::string local_addr;
  std::string run_id = "none";
  std::string role = "default";
  int max_restarts = 0;
  double monitor_interval_s = 0.1;
  double grace_s = 5;  // for the others to report after the first failure; and from a signal to SIGKILL
  std::string log_dir;
  Streams redirects, tee;
  std::vector<int> shown_ranks;  // local ranks whose output is shown; empty: all
  bool prefix = true;
  std::vector<std::string> program;  // and its arguments
};

// Thrown when there is nothing to run: --help, or a mistake.
struct Stop {
  int exit_code;
  std::string text;  // for stdout when exit_code is 0, otherwise for stderr
};

// `arguments` without the program's own name. Throws Stop.
Options parse(std::vector<std::string> arguments);

// "auto", "cpu", "gpu" or a number, as --nproc-per-node takes it. Throws Stop.
int count_processes(const std::string& asked, int cpus, int gpus);

}  // namespace distrun
