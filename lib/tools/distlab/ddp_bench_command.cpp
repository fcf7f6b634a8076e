// ./distlab bench ddp: how fast do several ranks train, and how much of their communication shows?
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

#include "distlab/bench/ddp/measure.h"
#include "distlab/bench/ddp/pytorch.h"
#include "distlab/bench/ddp/report.h"
#include "distlab/commands.h"
#include "distlab/temporary_folder.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

// 1, 2, 4, ... and the last one.
std::vector<int> numbers_of_ranks(int most) {
  std::vector<int> numbers;
  for (int n = 1; n < most; n *= 2) numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

void check(const DdpBenchOptions& options) {
  using dist::Errc;
  if (std::getenv("DIST_SIM"))
    dist::fail(Errc::invalid_argument, "DIST_SIM is set, and bench measures real ranks: unset it");
  if (!options.compare.empty() && options.compare != "pytorch")
    dist::fail(Errc::invalid_argument, "--compare is \"{}\"; bench ddp compares with pytorch",
               options.compare);
  if (!options.plot.empty() && options.ranks == 1)
    dist::fail(Errc::invalid_argument, "--plot needs several numbers of ranks; here is one alone");
}

void write_files(const bench::DdpRun& run) {
  const std::string& path = run.options.json;
  if (path == "-") fmt::print("{}\n", as_json(run));
  if (!path.empty() && path != "-") {
    std::ofstream file(path);
    file << as_json(run) << '\n';
    if (!file.flush()) dist::fail(dist::Errc::resource, "{} cannot be written", path);
  }
  if (!run.options.plot.empty()) write_svg(as_plot(run), run.options.plot);
}

}  // namespace

int run_ddp_bench(const DdpBenchOptions& options) try {
  check(options);
  bench::DdpRun run{.options = options, .cores = dist::usable_cores(), .peer_title = "", .rows = {}};
  if (!options.compare.empty()) run.peer_title = bench::pytorch_title();
  if (only_checks()) return exit_ok;
  const auto show = [&](const std::string& text) {
    if (options.json == "-") return;
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  show(title(run));
  for (const int ranks : numbers_of_ranks(options.ranks > 0 ? options.ranks : std::max(2, run.cores))) {
    const TemporaryFolder folder("bench-ddp");
    run.rows.push_back(bench::measure_ddp(options, ranks, folder.path()));
    show(line(run, run.rows.back()));
  }
  show(explanation(run));
  write_files(run);
  return exit_ok;
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
