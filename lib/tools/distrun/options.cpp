#include "options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "help.h"
#include "machine.h"

namespace distrun {
namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Stop{2, "distrun: " + fmt::format(format, std::forward<Args>(args)...)};
}

// What CLI11 fills in, before it is understood.
struct Raw {
  std::string nnodes = "1", nproc = "1", backend = "static", endpoint, conf, redirects = "0", tee = "0",
              filter;
  std::string start_method = "spawn";
  bool standalone = false, no_python = false, module = false, run_path = false, no_prefix = false;
};

// "--node-rank,--node_rank", and torchrun's variable for the default.
std::string both(const std::string& name) {
  std::string underscored = name;
  std::replace(underscored.begin(), underscored.end(), '-', '_');
  return "--" + name + (underscored == name ? "" : ",--" + underscored);
}
std::string variable(const std::string& name) {
  std::string result = "PET_" + name;
  for (char& c : result) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

int to_int(const std::string& text, const std::string& flag, int least) {
  int value = 0;
  if (!CLI::detail::lexical_cast(text, value) || value < least) {
    refuse("{} takes a whole number of at least {}, not \"{}\"", flag, least, text);
  }
  return value;
}

// "4", or torchrun's "4:4".
int count_nodes(const std::string& text) {
  const auto colon = text.find(':');
  const int least = to_int(text.substr(0, colon), "--nnodes", 1);
  if (colon == std::string::npos) return least;
  const int most = to_int(text.substr(colon + 1), "--nnodes", 1);
  if (least != most) refuse("--nnodes {}: jobs of changing size are not offered; give one number", text);
  return least;
}

Streams read_streams(const std::string& text, const std::string& flag) {
  Streams result;
  const auto value = [&](const std::string& digit) {
    if (digit.size() != 1 || digit[0] < '0' || digit[0] > '3') {
      refuse("{} takes 0 (none), 1 (stdout), 2 (stderr), 3 (both), or 0:1,1:3 for single ranks, not \"{}\"",
             flag, text);
    }
    return digit[0] - '0';
  };
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const auto colon = part.find(':');
    if (colon == std::string::npos)
      result.everywhere = value(part);
    else
      result.by_rank[to_int(part.substr(0, colon), flag, 0)] = value(part.substr(colon + 1));
  }
  return result;
}

void read_endpoint(const std::string& text, int default_port, Options& options) {
  auto colon = text.rfind(':');
  if (colon != std::string::npos && text.find(']', colon) != std::string::npos)
    colon = std::string::npos;  // "[::1]"
  options.endpoint_host = text.substr(0, colon);
  options.endpoint_port = colon == std::string::npos
                              ? default_port
                              : to_int(text.substr(colon + 1), "--rdzv-endpoint HOST:PORT", 0);
  if (options.endpoint_host.empty() || options.endpoint_port > 65535) {
    refuse("--rdzv-endpoint takes HOST:PORT, not \"{}\"", text);
  }
}

void read_conf(const std::string& text, Options& options) {
  if (text.empty()) return;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) refuse("--rdzv-conf takes KEY=VALUE,KEY=VALUE, not \"{}\"", text);
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == "is_host") options.hosts_endpoint = value == "1" || value == "true" || value == "True";
    if (key == "join_timeout" || key == "timeout")
      options.join_timeout_s = to_int(value, "--rdzv-conf " + key, 1);
  }  // torchrun's other keys have no meaning here
}

void declare(CLI::App& app, Raw& raw, Options& options) {
  const auto option = [&](const std::string& name, auto& value, const std::string& about) {
    return app.add_option(both(name), value, about)->envname(variable(name));
  };
  option("nnodes", raw.nnodes, "nodes of the job; one distrun runs on each")->type_name("N");
  option("nproc-per-node", raw.nproc, "ranks on this node: a number, or cpu, gpu, auto")->type_name("N");
  option("node-rank", options.node_rank, "number of this node, from 0; otherwise by arrival")->type_name("N");
  option("master-addr", options.master_addr, "address of node 0")->type_name("HOST");
  option("master-port", options.master_port, "port on node 0; otherwise a free one")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  option("rdzv-endpoint", raw.endpoint, "where the nodes meet")->type_name("HOST:PORT");
  option("rdzv-id", options.run_id, "name of the job, the same on all nodes")->type_name("ID");
  option("rdzv-backend", raw.backend, "c10d or static; both are served by distrun's own store")
      ->type_name("NAME");
  option("rdzv-conf", raw.conf, "is_host=1|0, join_timeout=SECONDS")->type_name("K=V,...");
  option("local-addr", options.local_addr, "address by which others reach this node")->type_name("HOST");
  app.add_flag("--standalone", raw.standalone, "one node, on a free port (the default for one node)");
  option("max-restarts", options.max_restarts, "start all ranks again at most so often")->type_name("N");
  option("monitor-interval", options.monitor_interval_s, "seconds between looks at other nodes")
      ->type_name("S");
  app.add_option(both("grace-period"), options.grace_s,
                 "seconds for the other ranks to report after a failure")
      ->type_name("S");
  option("role", options.role, "name of the ranks' role")->type_name("NAME");
  option("log-dir", options.log_dir, "folder for --redirects and --tee")->type_name("DIR");
  app.add_option("-r,--redirects", raw.redirects,
                 "to files, not shown: 0 none, 1 stdout, 2 stderr, 3 both, 0:1,1:3")
      ->envname("PET_REDIRECTS")
      ->type_name("WHAT");
  app.add_option("-t,--tee", raw.tee, "to files and shown")->envname("PET_TEE")->type_name("WHAT");
  option("local-ranks-filter", raw.filter, "show the output of these local ranks only")->type_name("R,R");
  app.add_flag(both("no-prefix"), raw.no_prefix, "do not put [rank] before each line");
  app.add_flag(both("no-python"), raw.no_python, "accepted: programs are always run as they are");
  option("start-method", raw.start_method, "accepted, without effect")->type_name("NAME");
  app.add_flag("-m,--module", raw.module, "not offered: Python modules are torchrun's");
  app.add_flag(both("run-path"), raw.run_path, "not offered: Python files are torchrun's");
}

void understand(const Raw& raw, Options& options) {
  if (raw.module)
    refuse("-m starts Python modules, which distrun does not; write: distrun ... python3 -m MODULE");
  if (raw.run_path) refuse("--run-path is for Python; write: distrun ... python3 FILE");
  if (raw.backend != "c10d" && raw.backend != "static") {
    refuse("--rdzv-backend {} is not offered; c10d and static are", raw.backend);
  }
  options.nodes = count_nodes(raw.nnodes);
  options.nproc_per_node = count_processes(raw.nproc, usable_cpus(), visible_gpus());
  options.prefix = !raw.no_prefix;
  options.redirects = read_streams(raw.redirects, "--redirects");
  options.tee = read_streams(raw.tee, "--tee");
  read_conf(raw.conf, options);
  if (!raw.filter.empty()) {
    for (const std::string& rank : CLI::detail::split(raw.filter, ',')) {
      options.shown_ranks.push_back(to_int(rank, "--local-ranks-filter", 0));
    }
  }
  if (raw.standalone && options.nodes > 1)
    refuse("--standalone is for one node; leave it out with --nnodes {}", options.nodes);
  if (options.node_rank >= options.nodes || options.node_rank < -1) {
    refuse("--node-rank {} with --nnodes {}: nodes count from 0", options.node_rank, options.nodes);
  }
  if (options.max_restarts < 0) refuse("--max-restarts {}: it cannot be negative", options.max_restarts);
  if (raw.standalone || options.nodes == 1) return;
  const bool by_master = raw.endpoint.empty();
  if (by_master && options.master_addr.empty()) {
    refuse("--nnodes {} needs a meeting place: --rdzv-endpoint HOST:PORT, the same on all nodes",
           options.nodes);
  }
  if (!by_master) return read_endpoint(raw.endpoint, 29400, options);
  options.endpoint_host = options.master_addr;
  options.endpoint_port = options.master_port != 0 ? options.master_port : 29500;
}

// An option that does not exist ends CLI11's parsing as a program would: name it, and the one that was meant.
void refuse_option(const std::string& wrong, CLI::App& app) {
  const std::string name = wrong.substr(0, wrong.find('='));
  for (const CLI::Option* known : app.get_options()) {
    const std::string full = "--" + (known->get_lnames().empty() ? "" : known->get_lnames().front());
    if (name.size() > 3 && full.compare(0, name.size(), name) == 0) {
      refuse("unknown option {}; did you mean {}?", name, full);
    }
  }
  refuse("unknown option {}; see distrun --help", name);
}

}  // namespace

bool Streams::has(int local_rank, int stream) const {
  const auto found = by_rank.find(local_rank);
  return ((found == by_rank.end() ? everywhere : found->second) & stream) != 0;
}

int count_processes(const std::string& asked, int cpus, int gpus) {
  if (asked == "cpu") return cpus;
  if (asked == "auto") return gpus > 0 ? gpus : cpus;
  if (asked != "gpu") return to_int(asked, "--nproc-per-node", 1);
  if (gpus == 0)
    refuse("--nproc-per-node gpu: no GPU here (or CUDA_VISIBLE_DEVICES hides them); use auto or a number");
  return gpus;
}

Options parse(std::vector<std::string> arguments) {
  CLI::App app{
      "distrun starts a program as the ranks of a job, as torchrun does.\n"
      "  distrun --nproc-per-node 4 ./program its arguments\n"
      "  distrun --nnodes 2 --rdzv-endpoint host:29400 ./program      (on each of two nodes)",
      "distrun"};
  Raw raw;
  Options options;
  declare(app, raw, options);
  app.prefix_command();
  app.formatter(help_page());
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw Stop{0, app.help()};
  } catch (const CLI::ParseError& wrong) {
    refuse("{}; see distrun --help", wrong.what());
  }
  options.program = app.remaining();
  if (!options.program.empty() && options.program.front() == "--")
    options.program.erase(options.program.begin());
  else if (!options.program.empty() && options.program.front().front() == '-')
    refuse_option(options.program[0], app);
  understand(raw, options);
  if (options.program.empty()) refuse("which program? distrun [OPTIONS] PROGRAM [ARGUMENTS...]");
  return options;
}

}  // namespace distrun
