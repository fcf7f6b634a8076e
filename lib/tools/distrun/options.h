// The options of distrun's command line: torchrun's flags, with dashes or underscores.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distrun {

// Which streams of a rank go to files: torchrun's 0 (none), 1 (stdout), 2 (stderr) or 3 (both), for all ranks
// or per rank.
struct Streams {
  int everywhere = 0;
  std::map<int, int> by_rank;  // local rank
  bool is_any() const { return everywhere != 0 || !by_rank.empty(); }
  bool has(int local_rank, int stream) const;  // stream: 1 stdout, 2 stderr
};

struct Options {
  int nodes = 1;        // at most
  int least_nodes = 1;  // fewer than `nodes`: members come and go between attempts
  int nproc_per_node = 1;
  int node_rank = -1;  // -1: by arrival
  // Where the nodes meet; an IPv6 address is in brackets. Empty: one node alone, which need not meet any.
  std::string endpoint_host;
  int endpoint_port = 0;
  std::optional<bool> hosts_endpoint;  // --rdzv-conf is_host=
  double join_timeout_s = 600;         // --rdzv-conf join_timeout=
  double last_call_s = 30;             // --rdzv-conf last_call_timeout=, for more than least_nodes
  std::string master_addr;             // empty: node 0 decides
  int master_port = 0;                 // 0: a free one of node 0
  std::string local_addr;
  std::string run_id = "none";
  std::string role = "default";
  bool pass_local_rank = false;  // the program's first argument is --local-rank=N
  int max_restarts = 0;
  double monitor_interval_s = 0.1;
  double grace_s = 5;  // from the first failure to SIGTERM, and from a signal to SIGKILL
  std::string log_dir;
  Streams redirects, tee;
  std::vector<int> shown_ranks;  // local ranks whose output is shown; empty: all
  bool prefix = true;
  std::vector<std::string> program;  // and its arguments

  bool is_elastic() const { return least_nodes < nodes; }
};

// Thrown when there is nothing to run: after --help, or for wrong usage.
struct Stop {
  int exit_code;
  std::string text;  // for stdout when exit_code is 0, otherwise for stderr
};

// `arguments` do not contain the program's own name. Throws Stop.
Options parse(std::vector<std::string> arguments);

// `asked` is "auto", "cpu", "gpu" or a number, as for --nproc-per-node. Throws Stop.
int count_processes(const std::string& asked, int cpus, int gpus);

}  // namespace distrun
