// Three runs: the step itself; for the bubble, the pipeline alone, on a network without cost, each GPU as
// fast as all the ranks among which the other axes divide a computation; for the computation, one such GPU
// with the whole model.
#include "mesh/simulated_step.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "dist/core/clock.h"
#include "dist/core/fail.h"
#include "dist/nn/adam.h"
#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate.h"

#include "mesh/flop_clock.h"

namespace dist {

namespace {

constexpr const char* free_network = R"({"intra": {"latency_us": 0, "bandwidth_gb_s": 1000000}})";
constexpr double no_limit = 1e300;

struct Case {
  const nn::GptOptions& gpt;
  HybridOptions options;
  SimulatedStepOptions simulated;
  double flops;  // per second and rank
};

struct Outcome {
  double begin = std::numeric_limits<double>::max(), end = 0;
  std::int64_t parameters = 0;  // of rank 0
  std::vector<std::vector<pipeline::TimedAction>> timelines;
  sim::Report report;
  double seconds() const { return end - begin; }
};

double seconds_now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

void take_steps(const Case& of, const Tensor& tokens, Outcome& outcome, int rank) {
  nn::manual_seed(1);
  HybridGpt model(of.gpt, of.options, of.simulated.dtype);
  for (const auto& stage : model.stages()) charge_flops(*stage, of.flops);
  nn::AdamW optimizer(model.parameters());
  for (int step = 0; step < 2; ++step) {  // the first one agrees on shapes, and makes the optimizer's state
    sim::restart_peak();
    barrier();
    const double begin = seconds_now();
    model.zero_grad();
    (void)model.step(tokens, tokens);
    (void)model.clip_grad_norm(no_limit);
    optimizer.step();
    if (step == 0) continue;
    outcome.begin = std::min(outcome.begin, begin);
    outcome.end = std::max(outcome.end, seconds_now());
  }
  outcome.timelines[static_cast<std::size_t>(rank)] = model.timeline();
  if (rank == 0)
    for (const nn::Parameter* const parameter : model.parameters())
      outcome.parameters += parameter->value.numel();
}

Outcome run(const Case& of) {
  sim::RunOptions settings;
  settings.ranks = of.options.shape.ranks();
  settings.topology = of.simulated.topology;
  settings.stack_bytes = std::size_t{256} << 10;
  settings.check = settings.watch = false;
  settings.values = of.simulated.values;
  Outcome outcome;
  outcome.timelines.resize(static_cast<std::size_t>(settings.ranks));
  const Tensor tokens = zeros({of.simulated.rows, of.gpt.context}, DType::i64, cpu);  // of all ranks
  outcome.report = sim::run(settings, [&](int rank) {
    init_process_group();
    take_steps(of, tokens, outcome, rank);
    destroy_process_group();
  });
  if (!outcome.report.ok()) fail(Errc::internal, "simulate_step: {}", outcome.report.text());
  return outcome;
}

pipeline::Timeline timeline_of(const Outcome& outcome, const HybridShape& shape) {
  pipeline::Timeline timeline;
  const int apart = shape.ranks() / shape.pp;  // pp is the first axis of the mesh
  for (int stage = 0; stage < shape.pp; ++stage) {
    timeline.ranks.push_back(outcome.timelines[static_cast<std::size_t>(stage * apart)]);
    for (const auto& each : timeline.ranks.back()) timeline.total = std::max(timeline.total, each.end);
  }
  return timeline;
}

}  // namespace

SimulatedStep simulate_step(const nn::GptOptions& gpt, const HybridOptions& options,
                            const SimulatedStepOptions& simulated) {
  const auto begin = std::chrono::steady_clock::now();
  const double of_topology = sim::load_topology(simulated.topology).flops;
  const double flops = simulated.flops > 0 ? simulated.flops : of_topology;
  if (flops == 0)
    fail(Errc::invalid_argument,
         "topology {} does not say how fast a GPU computes; add \"tflops\" to its file", simulated.topology);
  const HybridShape& shape = options.shape;
  check_hybrid(shape, gpt, shape.ranks(), options.chunks, options.sequence_parallel);
  const Outcome whole = run({gpt, options, simulated, flops});
  Case ideal{gpt, options, simulated, flops * shape.tp * shape.cp};
  ideal.simulated.topology = free_network;
  ideal.simulated.values = false;
  ideal.options.shape = {.pp = shape.pp};
  ideal.options.sequence_parallel = false;
  const double in_pipeline = run(ideal).seconds();
  ideal.flops *= shape.pp;
  ideal.options.shape = {};
  if (options.chunks > 1) ideal.options.schedule = pipeline::Kind::one_f_one_b, ideal.options.chunks = 1;
  const Outcome alone = run(ideal);
  SimulatedStep result;
  result.step_s = whole.seconds();
  result.compute_s = alone.seconds();
  result.bubble_s = in_pipeline - result.compute_s;
  result.exposed_s = result.step_s - in_pipeline;
  result.peak_bytes = whole.report.max_peak_buffer_bytes();
  result.messages = whole.report.messages;
  result.bytes = whole.report.max_bytes_sent();
  result.parameters = alone.parameters;
  result.timeline = timeline_of(whole, shape);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace dist
