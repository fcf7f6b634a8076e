// ./distlab bench ddp: how fast several ranks train, and how much of their communication is exposed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"

#include "distlab/bench/ddp/measure.h"
#include "distlab/bench/ddp/pytorch.h"
#include "distlab/bench/ddp/report.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

// Returns 1, 2, 4, ... and `most`.
std::vector<int> numbers_of_ranks(int most) {
  std::vector<int> numbers;
  for (int n = 1; n < most; n *= 2) numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

void check(const DdpBenchOptions& options) {
  using dist::Errc;
  if (std::getenv("DIST_SIM"))
    dist::fail(Errc::invalid_argument, "DIST_SIM is set, but bench measures real ranks; unset it");
  if (!options.compare.empty() && options.compare != "pytorch")
    dist::fail(Errc::invalid_argument, "--compare cannot be \"{}\"; bench ddp compares only with pytorch",
               options.compare);
  check_output("--json", options.json);
  check_output("--plot", options.plot);
  if (options.cut_graphs && options.device == "cpu")
    dist::fail(Errc::invalid_argument, "--cut-graphs is for GPUs; add --device cuda");
  if (!options.plot.empty() && options.ranks == 1)
    dist::fail(Errc::invalid_argument, "--plot needs several numbers of ranks; choose a larger --nproc");
}

void write_files(const bench::DdpRun& run) {
  const std::string& path = run.options.json;
  if (!path.empty()) write_output(as_json(run) + '\n', path);
  if (!run.options.plot.empty()) write_svg(as_plot(run), run.options.plot);
}

// Measures in a process of its own: if we are interrupted, that process ends before its folder is removed.
// Returns nothing when it has failed and printed the reason.
std::optional<bench::DdpRow> measured(const DdpBenchOptions& options, int ranks) {
  const TemporaryFolder folder("bench-ddp");
  std::vector<std::string> argv{this_program(),
                                "bench",
                                "ddp-row",
                                "--folder",
                                folder.path(),
                                "--nproc",
                                std::to_string(ranks),
                                "--batch-size",
                                std::to_string(options.batch_size),
                                "--repeat",
                                std::to_string(options.repeats),
                                "--device",
                                options.device};
  if (options.steps > 0) argv.insert(argv.end(), {"--iters", std::to_string(options.steps)});
  if (!options.compare.empty()) argv.insert(argv.end(), {"--compare", options.compare});
  if (options.cut_graphs) argv.emplace_back("--cut-graphs");
  Waiting waiting(Waiting::Ticks::none);
  waiting.show(fmt::format("measuring {}", dist::counted(ranks, "rank")));
  const int code = run_in_foreground(argv);
  waiting.clear();
  if (const auto how = ended_by_signal(code); !how.empty())
    fmt::print(stderr, "distlab: the process that measures {} {}\n", dist::counted(ranks, "rank"), how);
  return code == exit_ok ? std::optional(bench::read_row(folder.path())) : std::nullopt;
}

}  // namespace

int measure_ddp_row(const DdpRowOptions& options) {
  bench::measure_ddp(options.bench, options.folder);
  return exit_ok;
}

int run_ddp_bench(const DdpBenchOptions& options) try {
  check(options);
  bench::DdpRun run{.options = options, .cores = dist::usable_cores(), .peer_title = "", .rows = {}};
  if (!options.compare.empty()) run.peer_title = bench::pytorch_title();
  if (only_checks()) return exit_ok;
  const auto show = [&](const std::string& text) {
    if (options.json == "-") return;
    fmt::print("{}", text);
    flush_stdout();
  };
  show(title(run));
  for (const int ranks : numbers_of_ranks(options.ranks > 0 ? options.ranks : std::max(2, run.cores))) {
    const auto row = measured(options, ranks);
    if (!row) return exit_failed;
    run.rows.push_back(*row);
    show(line(run, run.rows.back()));
  }
  show(explanation(run));
  write_files(run);
  return exit_ok;
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
