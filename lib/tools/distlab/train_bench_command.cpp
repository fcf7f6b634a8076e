// ./distlab bench train: how fast one process trains, compared with PyTorch.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/bench/pytorch.h"
#include "distlab/bench/statistics.h"
#include "distlab/bench/train/peer.h"
#include "distlab/bench/train/report.h"
#include "distlab/bench/train/training.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/temporary_folder.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

using bench::TrainTurn;

TrainBenchOptions checked(TrainBenchOptions options) {
  if (options.model == "gpt" && options.width % options.heads != 0)
    dist::fail(dist::Errc::invalid_argument, "--heads {} does not divide --width {}; choose a divisor",
               options.heads, options.width);
  check_output("--json", options.json);
  if (options.batch_size == 0) options.batch_size = options.model == "gpt" ? 12 : 64;
  return options;
}

// From the same weights both sides compute the same loss, and by the gradients of the first step that of the
// second. Later ones differ by rounding: the ConvNet's update multiplies it by some 30 per step (batch 64,
// f32 and f64 of PyTorch: 1e-8 of the loss in the first step, 1.5e-6 in the second, 5e-3 in the sixth).
void check_first_losses(const TrainBenchOptions& options, bench::TrainSteps& ours,
                        bench::PyTorchTrain& theirs) {
  const double tolerance = options.dtype == "f32" ? 1e-4 : 3e-2;
  for (int step = 1; step <= 2; ++step) {
    const double expected = theirs.train(1).loss, loss = ours.train(1).loss;
    if (!(std::abs(loss - expected) <= tolerance * std::abs(expected)))
      dist::fail(dist::Errc::internal,
                 "in step {} PyTorch's loss is {}, but ours is {}: the two do not compute the same", step,
                 expected, loss);
  }
}

int steps_of_a_turn(const TrainBenchOptions& options, double step) {
  if (options.steps > 0) return options.steps;
  constexpr double turn = 0.5, most = 1000;
  return static_cast<int>(std::clamp(std::round(turn / step), 2., most));
}

TrainTurn summary(const std::vector<TrainTurn>& turns) {
  const auto median_of = [&turns](double TrainTurn::*figure) {
    std::vector<double> all;
    for (const TrainTurn& turn : turns) all.push_back(turn.*figure);
    return bench::median(all);
  };
  return {.step = median_of(&TrainTurn::step),
          .cpu = median_of(&TrainTurn::cpu),
          .loss = turns.back().loss,
          .peak_bytes = turns.back().peak_bytes};
}

void measure(bench::TrainRun& run) {
  const TemporaryFolder folder("bench-train");
  Waiting waiting(Waiting::Ticks::none);
  waiting.show("warming up");
  bench::TrainSteps ours(run.options);
  run.model = ours.str();
  run.parameters = ours.parameters();
  std::optional<bench::PyTorchTrain> theirs;
  if (!run.peer_title.empty()) {
    const auto weights = folder.path() / "weights.safetensors";
    ours.save(weights);
    theirs.emplace(run.options, weights);
    check_first_losses(run.options, ours, *theirs);
    run.blas = theirs->blas();
  }
  constexpr int warm_up_steps = 5;
  if (theirs) (void)theirs->train(warm_up_steps);
  const TrainTurn first = ours.train(warm_up_steps);
  run.steps = steps_of_a_turn(run.options, first.step);
  std::vector<TrainTurn> turns, peers;
  std::vector<double> graphs;
  const auto all = static_cast<std::size_t>(run.options.repeats);
  for (int i = 0; i < run.options.repeats; ++i) {
    waiting.show("measuring turn", turns.size(), all);
    turns.push_back(ours.train(run.steps));
    if (theirs) peers.push_back(theirs->train(run.steps));
  }
  waiting.show("summing up");
  if (run.options.device == "cuda") {  // last: what they compute has no meaning
    for (int i = 0; i < run.options.repeats; ++i) graphs.push_back(ours.graphs_alone(run.steps));
    run.graphs_alone = bench::median(graphs);
  }
  run.ours = summary(turns);
  if (theirs) run.theirs = summary(peers);
}

}  // namespace

int run_train_bench(const TrainBenchOptions& asked) try {
  bench::TrainRun run;
  run.options = checked(asked);
  if (!run.options.compare.empty()) run.peer_title = bench::pytorch_title();
  if (only_checks()) return exit_ok;
  measure(run);
  if (run.options.json != "-") fmt::print("{}", as_text(run));
  flush_stdout();
  if (!run.options.json.empty()) write_output(as_json(run) + '\n', run.options.json);
  return exit_ok;
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
