// ./distlab bench: starts the ranks that measure (bench/).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/backend/backend.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"

#include "distlab/bench/explain.h"
#include "distlab/build_info.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/process.h"
#include "distlab/terminal.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// mpirun counts two hardware threads of a core as one core.
int physical_cores() {
  std::set<std::string> cores;
  for (const int cpu : dist::usable_cpus()) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string siblings = std::to_string(cpu);
    std::getline(file, siblings);
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

fs::path rank_program() {
  const fs::path path = fs::read_symlink("/proc/self/exe").parent_path() / "bench_rank";
  if (access(path.c_str(), X_OK) != 0)
    dist::fail(dist::Errc::unsupported, "{} is not built; run ./distlab bench in a checkout, which builds it",
               path.string());
  return path;
}

// Returns the words with which mpirun starts the ranks here, with its default settings if possible. `option`
// is the one that needs mpirun.
std::vector<std::string> mpirun_words(std::string_view option, int ranks) {
  if (build_info().mpi.empty())
    dist::fail(dist::Errc::unsupported, "{} mpi: {}", option, build_info().why_no_mpi);
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty())
    dist::fail(dist::Errc::unsupported,
               "{} mpi: mpirun is not in PATH; apt-get install openmpi-bin, or add its folder to PATH",
               option);
  std::vector<std::string> words{mpirun, "--stdin", "none", "-n", std::to_string(ranks)};
  if (ranks > physical_cores()) words.emplace_back("--oversubscribe");
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  // Both sides must use TCP. On one node that is the loopback device, which Open MPI does not use unless told
  // to.
  if (bench::only_tcp())
    words.insert(words.end(),
                 {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"});
  return words;
}

// Returns no words if bench_rank starts the ranks itself.
std::vector<std::string> launcher_words(const BenchOptions& options, int ranks) {
  if (options.compare == "mpi") return mpirun_words("--compare", ranks);
  if (options.backend == "mpi") return mpirun_words("--backend", ranks);
  return {};
}

int start(std::vector<std::string> launcher, const BenchOptions& options) {
  if (only_checks()) return exit_ok;
  launcher.push_back(rank_program());
  for (auto& word : bench::to_words(options)) launcher.push_back(std::move(word));
  offer_columns();
  return run_in_foreground(launcher);
}

}  // namespace

int run_bench(const BenchOptions& options) try {
  if (std::getenv("DIST_SIM"))
    dist::fail(dist::Errc::invalid_argument, "DIST_SIM is set, but bench measures real ranks; unset it");
  if (options.calibrate) {
    if (!options.what.empty() || options.explain)
      dist::fail(dist::Errc::invalid_argument,
                 "--calibrate measures the machine, not a collective; leave out everything else");
    BenchOptions calibrate;
    calibrate.calibrate = true;
    return start({}, calibrate);
  }
  const bench::Plan plan = bench::make_plan(options);
  check_output("--json", options.json);
  check_output("--plot", options.plot);
  if (plan.on_device) dist::find_backend(options.backend);  // checks that the backend can be used here
  if (options.explain && !only_checks()) {
    fmt::print("{}", bench::explain(plan, *options.explain, dist::known_costs(bench::only_tcp()),
                                    dist::usable_cores()));
    return exit_ok;
  }
  BenchOptions complete = options;
  complete.ranks = plan.ranks;
  complete.cores = static_cast<int>(dist::usable_cpus().size());
  return start(launcher_words(options, plan.ranks), complete);
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
