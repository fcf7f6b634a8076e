// ./distlab bench shard: what a step costs in fully_shard and ZeroOptimizer, compared with
// DistributedDataParallel.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/dist.h"

#include "distlab/bench/shard/ways.h"
#include "distlab/bench/statistics.h"
#include "distlab/build_info.h"
#include "distlab/commands.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int steps_of_a_turn = 3;

// The table has 69 columns, or 60 on a narrower terminal.
void print_line(const std::string& ranks, const std::string& way, const std::string& step,
                const std::string& tokens, const std::string& ratio) {
  if (columns_to_fit() < 69)
    fmt::print("{:>5} {:31}{:>8}{:>9}{:>6}\n", ranks, way, step, tokens, ratio);
  else
    fmt::print("{:>5}  {:32}{:>10}{:>12}{:>8}\n", ranks, way, step, tokens, ratio);
}

// Begins on all ranks at the same time; the time of the slowest rank, per step.
double turn(bench::Way& way) {
  dist::barrier();
  const auto began = Clock::now();
  for (int i = 0; i < steps_of_a_turn; ++i) (void)way.step();
  auto seconds = dist::tensor({std::chrono::duration<double>(Clock::now() - began).count()});
  dist::all_reduce(seconds, dist::ReduceOp::max);
  return seconds.item<double>() / steps_of_a_turn;
}

void measure_on_this_rank(const ShardBenchOptions& options) {
  Waiting waiting(Waiting::Ticks::none);
  const bool prints = dist::get_rank() == 0;
  if (prints) waiting.show(fmt::format("{} warm up", dist::counted(dist::get_world_size(), "rank")));
  const auto ways = bench::make_ways(options);
  // All have taken the same steps from the same numbers.
  constexpr double tolerance = 1e-3;
  std::vector<double> losses;
  for (const auto& way : ways) {
    for (int i = 0; i < 2; ++i) (void)way->step();
    losses.push_back(way->step());
    if (std::abs(losses.back() - losses[0]) > tolerance * losses[0])
      dist::fail(dist::Errc::internal, "after 3 steps the loss of {} is {}, that of {} is {}", way->name(),
                 losses.back(), ways[0]->name(), losses[0]);
  }
  std::vector<std::vector<double>> seconds(ways.size());
  for (int i = 0; i < options.repeats; ++i) {
    if (prints) waiting.show("measuring turn", seconds[0].size(), static_cast<std::size_t>(options.repeats));
    for (std::size_t k = 0; k < ways.size(); ++k) seconds[k].push_back(turn(*ways[k]));
  }
  if (!prints) return;
  waiting.clear();
  const double tokens = static_cast<double>(options.batch_size * options.context * dist::get_world_size());
  const double first = bench::median(seconds[0]);
  for (std::size_t k = 0; k < ways.size(); ++k) {
    const double step = bench::median(seconds[k]);
    print_line(fmt::format("{}", dist::get_world_size()), ways[k]->name(), fmt::format("{:.2f}", step * 1e3),
               fmt::format("{:.0f}", tokens / step), fmt::format("{:.2f}", step / first));
  }
  flush_stdout();
}

}  // namespace

int run_shard_bench(const ShardBenchOptions& options) try {
  if (std::getenv("DIST_SIM"))
    dist::fail(dist::Errc::invalid_argument, "DIST_SIM is set, but bench measures real ranks; unset it");
  if (options.width % 4 != 0)
    dist::fail(dist::Errc::invalid_argument, "--width {} is not a multiple of the 4 heads", options.width);
  if (only_checks()) return exit_ok;
  fmt::print(
      "shard: a GPT of {}, width {}, context {}, {} per rank, AdamW; one thread each, {}; build {}\n\n",
      dist::counted(options.layers, "layer"), options.width, options.context,
      dist::counted(options.batch_size, "row"), dist::counted(dist::usable_cores(), "core"),
      build_info().type);
  print_line("ranks", "way", "step ms", "tokens/s", "ratio");
  flush_stdout();
  for (const int ranks : options.ranks > 0 ? std::vector{options.ranks} : std::vector{2, 4})
    dist::spawn(ranks, [&](int) {
      dist::init_process_group({.backend = "host"});
      measure_on_this_rank(options);
      dist::destroy_process_group();
    });
  fmt::print("\nMedians of {} of the slowest rank; ratio: of the step times, to the first line.\n",
             dist::counted(options.repeats, "turn"));
  flush_stdout();
  return exit_ok;
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
