// distrun's flags and help. No other source of distrun includes CLI11, which takes long to compile.
#include <algorithm>
#include <cctype>
#include <memory>

#include <CLI/CLI.hpp>

#include "options.h"
#include "usage_words.h"
#include "words.h"

namespace distrun {
namespace {

// The page of --help shows one spelling of each flag, and what distrun's command line looks like.
class HelpPage : public CLI::Formatter {
 public:
  HelpPage() { column_width(34); }

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nUsage: distrun [OPTIONS] PROGRAM [ARGUMENTS...]\n"
           "A flag's name may have dashes or underscores. PET_<FLAG> in the environment sets a default.\n";
  }
  std::string make_option_name(const CLI::Option* option, bool) const override {
    const auto& shorts = option->get_snames();
    const auto& longs = option->get_lnames();
    std::string name = shorts.empty() ? "    " : "-" + shorts.front() + (longs.empty() ? "" : ", ");
    return longs.empty() ? name : name + "--" + longs.front();
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return option->get_type_size() == 0 ? "" : " " + type.substr(0, type.find(':'));
  }
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

void declare(CLI::App& app, Words& words, Options& options) {
  const auto option = [&](const std::string& name, auto& value, const std::string& about) {
    return app.add_option(both(name), value, about)->envname(variable(name));
  };
  option("nnodes", words.nnodes, "number of nodes, or least:most; start one distrun on each")->type_name("N");
  option("nproc-per-node", words.nproc, "ranks on this node: a number, cpu, gpu or auto")->type_name("N");
  option("node-rank", options.node_rank, "number of this node, from 0 (default: order of arrival)")
      ->type_name("N");
  option("master-addr", options.master_addr, "address of node 0")->type_name("HOST");
  option("master-port", options.master_port, "port on node 0 (default: a free one)")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  option("rdzv-endpoint", words.endpoint, "where the nodes meet; the same on all nodes")
      ->type_name("HOST:PORT");
  option("rdzv-id", options.run_id, "name of the job, the same on all nodes")->type_name("ID");
  option("rdzv-backend", words.backend, "c10d or static; both use distrun's own store")->type_name("NAME");
  option("rdzv-conf", words.conf, "is_host=1|0, join_timeout=SECONDS")->type_name("K=V,...");
  option("local-addr", options.local_addr, "address at which other nodes reach this one")->type_name("HOST");
  app.add_flag("--standalone", words.standalone, "one node, on a free port (the default for one node)");
  option("max-restarts", options.max_restarts, "restart all ranks at most N times after a failure")
      ->type_name("N");
  option("monitor-interval", options.monitor_interval_s, "seconds between checks of the other nodes")
      ->type_name("S");
  app.add_option(both("grace-period"), options.grace_s,
                 "seconds that the other ranks get to report a failure, and then from SIGTERM to SIGKILL")
      ->type_name("S");
  option("role", options.role, "name of the ranks' role")->type_name("NAME");
  option("log-dir", options.log_dir, "folder for --redirects and --tee")->type_name("DIR");
  app.add_option("-r,--redirects", words.redirects,
                 "write output to files only: 0 none, 1 stdout, 2 stderr, 3 both; per rank: 0:1,1:3")
      ->envname("PET_REDIRECTS")
      ->type_name("WHAT");
  app.add_option("-t,--tee", words.tee, "write output to files and show it; values as above")
      ->envname("PET_TEE")
      ->type_name("WHAT");
  option("local-ranks-filter", words.filter, "show only the output of these local ranks")->type_name("R,R");
  app.add_flag(both("no-prefix"), words.no_prefix, "do not put [rank] in front of each line");
  app.add_flag(
      both("pass-local-rank"), options.pass_local_rank,
      "give each rank --local-rank=N as its first argument, as python -m torch.distributed.launch does");
  app.add_flag(both("no-python"), words.no_python, "accepted, without effect: any program is run as it is");
  option("start-method", words.start_method, "accepted, without effect")->type_name("NAME");
  app.add_flag("-m,--module", words.module, "not supported; write: distrun ... python3 -m MODULE");
  app.add_flag(both("run-path"), words.run_path, "not supported; write: distrun ... python3 FILE");
}

// CLI11 stops at an unknown option as if it were the program. The error names the option and the one that was
// probably meant.
void refuse_option(const std::string& wrong, CLI::App& app) {
  const std::string name = wrong.substr(0, wrong.find('='));
  if (name == "-n" || name == "-np")  // mpirun's name
    refuse("unknown option {}; the number of ranks is --nproc-per-node", name);
  for (const CLI::Option* known : app.get_options()) {
    const std::string full = "--" + (known->get_lnames().empty() ? "" : known->get_lnames().front());
    if (name.size() > 3 && full.compare(0, name.size(), name) == 0) {
      refuse("unknown option {}; did you mean {}?", name, full);
    }
  }
  refuse("unknown option {}; see distrun --help", name);
}

}  // namespace

Options parse(std::vector<std::string> arguments) {
  CLI::App app{
      "distrun starts a program as the ranks of a job, like torchrun.\n"
      "  distrun --nproc-per-node 4 ./program its arguments\n"
      "  distrun --nnodes 2 --rdzv-endpoint host:29400 ./program      (on each of two nodes)",
      "distrun"};
  Words words;
  Options options;
  declare(app, words, options);
  for (CLI::Option* flag : app.get_options()) {
    if (flag->get_items_expected_max() == 0) flag->disable_flag_override();
  }
  app.prefix_command();
  app.formatter(std::make_shared<HelpPage>());
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the last to the first
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw Stop{0, app.help()};
  } catch (const CLI::ParseError& wrong) {
    refuse("{}; see distrun --help", tools::usage_words(wrong.what()));
  }
  options.program = app.remaining();
  if (!options.program.empty() && options.program.front() == "--")
    options.program.erase(options.program.begin());
  else if (!options.program.empty() && options.program.front().front() == '-')
    refuse_option(options.program[0], app);
  understand(words, options);
  if (options.program.empty()) refuse("which program? usage: distrun [OPTIONS] PROGRAM [ARGUMENTS...]");
  return options;
}

}  // namespace distrun
