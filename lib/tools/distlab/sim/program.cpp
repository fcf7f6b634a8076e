// ./distlab sim ./program, ./distlab sim 1: whole programs on virtual ranks. The program's own spawn()
// simulates when DIST_SIM is set.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/group/join/environment.h"
#include "dist/launch/spawn_simulated.h"
#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate.h"

#include "distlab/commands.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "distlab/terminal.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// A file for the report of the program, which tells us whether it has simulated.
class ReportFile {
 public:
  ReportFile() : path_((temporary_root() / "distlab-sim-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0) dist::fail_errno(dist::Errc::resource, errno, "cannot create a file for the report");
    close(fd);
  }
  ~ReportFile() { std::remove(path_.c_str()); }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_empty() const { return fs::file_size(path_) == 0; }

 private:
  std::string path_;
};

std::string setting(const SimOptions& options, const std::string& report) {
  std::vector<std::string> parts{"topology=" + options.topology};
  if (!options.ranks.empty()) parts.push_back(fmt::format("ranks={}", options.ranks.front()));
  for (const auto& text : options.stragglers) parts.push_back("straggler=" + text);
  for (const auto& text : options.slow_links) parts.push_back("slow-link=" + text);
  for (const auto& text : options.losses) parts.push_back("lose=" + text);
  if (!options.seed.empty()) parts.push_back("seed=" + options.seed);
  if (!options.explore.empty()) parts.push_back("explore=" + options.explore);
  if (options.links) parts.emplace_back("links=yes");
  parts.push_back("report=" + report);
  return fmt::format("{}", fmt::join(parts, ","));
}

void refuse_what_is_for_collectives(const SimOptions& options) {
  const auto refuse = [](const char* option) {
    dist::fail(dist::Errc::invalid_argument, "{} is for a collective, not for a program; leave it out",
               option);
  };
  if (options.ranks.size() > 1)
    dist::fail(dist::Errc::invalid_argument, "a program runs on one number of ranks; --ranks has {}",
               options.ranks.size());
  if (!options.explore.empty() && !options.seed.empty())
    dist::fail(dist::Errc::invalid_argument, "--explore chooses the seeds itself; leave out --seed");
  if (!options.explore.empty() && !options.trace.empty())
    dist::fail(dist::Errc::invalid_argument,
               "--trace is for one run; run --explore first, then --trace with the --seed that it names");
  if (!options.algorithms.empty()) refuse("--algorithm");
  if (!options.bytes.empty()) refuse("--bytes");
  if (!options.sweep.empty()) refuse("--sweep");
  if (!options.plot.empty()) refuse("--plot");
  if (!options.json.empty()) refuse("--json");
}

// Checks the options here, so that an error names the option; the program would name DIST_SIM.
dist::SimulationAsked asked_by(const std::string& variable) try {
  return *dist::simulation_asked([&](const std::string&) { return std::optional(variable); });
} catch (const dist::Error& error) {
  constexpr std::string_view blames_variable = "DIST_SIM has \"";
  std::string text = error.what();
  if (text.starts_with(blames_variable)) text.replace(0, blames_variable.size(), "\"--");
  throw dist::Error(error.code(), text);
}

struct Simulated {
  int code = 0;  // of the program
  bool has_report = false;
};

// What a lab prints fits into a terminal, as that of `distlab run` does. Another program has the terminal to
// itself.
int run_to_fit(const std::vector<std::string>& argv, const SimOptions& options) {
  const bool is_lab = options.what.find('/') == std::string::npos;
  if (!is_lab || !stdout_is_terminal()) return run_in_foreground(argv);
  return run_streamed(argv, [](std::string_view line) { fmt::print("{}\n", line); }).exit_code;
}

Simulated simulate(const SimOptions& options, const std::string& program) {
  const ReportFile report;
  const std::string variable = setting(options, report.path());
  const auto asked = asked_by(variable);
  const auto topology = dist::sim::load_topology(asked.options.topology);
  if (asked.ranks > 0) {
    dist::sim::check_ranks(asked.ranks, topology);
    asked.options.what_if.check(asked.ranks);
  }
  setenv("DIST_SIM", variable.c_str(), 1);
  if (!options.trace.empty()) setenv("DIST_TRACE", options.trace.c_str(), 1);
  std::vector<std::string> argv{program};
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  const int code = run_to_fit(argv, options);
  unsetenv("DIST_SIM");
  return {code, !report.is_empty()};
}

// A model or a Work in a global variable is right in processes, and breaks where all ranks share it.
std::string_view hint_of_globals(int exit_code) {
  const int number = exit_code - 128;  // as a shell counts
  return number == SIGSEGV || number == SIGBUS || number == SIGABRT
             ? "; virtual ranks share global and static variables: keep a model, a Tensor or a Work in a "
               "local one"
             : "";
}

}  // namespace

int simulate_program(const SimOptions& options, const std::string& program) {
  refuse_what_is_for_collectives(options);
  if (access(program.c_str(), X_OK) != 0 || fs::is_directory(program)) {
    fmt::print(stderr, "distlab: {} is not a program that can be run; check the path\n", program);
    return exit_missing;
  }
  const auto [code, has_report] = simulate(options, program);
  if (const auto how = ended_by_signal(code); !how.empty())
    fmt::print(stderr, "distlab: {} {}{}\n", program, how, hint_of_globals(code));
  else if (!has_report && code != 0)
    fmt::print(stderr, "distlab: {} ended with exit code {} before its simulation was complete\n", program,
               code);
  else if (!has_report)
    fmt::print(stderr,
               "distlab: {} did not call dist::spawn(), or one of its ranks called exit(), so nothing was "
               "simulated; start the ranks with dist::spawn(n, rank_main)\n",
               program);
  return code == 0 && has_report ? exit_ok : exit_failed;
}

}  // namespace distlab
