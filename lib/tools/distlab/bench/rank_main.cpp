// bench_rank: ./distlab bench starts this program. Under mpirun it is one rank; otherwise it starts the
// ranks.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/launch/spawn.h"

#include "distlab/bench/calibrate.h"
#include "distlab/bench/rank.h"
#include "distlab/commands.h"
#include "distlab/fitted_output.h"
#include "distlab/terminal.h"

int main(int argc, char** argv) try {
  distlab::fit_output();
  const auto options = distlab::bench::from_words({argv + 1, argv + argc});
  if (options.calibrate) {
    distlab::bench::calibrate();
    return distlab::exit_ok;
  }
  if (options.compare == "mpi" || options.backend == "mpi") return distlab::bench::run_rank(options);
  dist::spawn(distlab::bench::make_plan(options).ranks, [&](int) {
    if (distlab::bench::run_rank(options) != distlab::exit_ok)
      throw dist::Error(dist::Errc::internal, "the results are wrong");
  });
  return distlab::exit_ok;
} catch (const dist::Error& error) {
  if (!distlab::stdout_has_reader()) std::raise(SIGPIPE);
  fmt::print(stderr, "distlab: {}\n", error.what());
  return error.code() == dist::Errc::unsupported ? distlab::exit_missing : distlab::exit_failed;
}
