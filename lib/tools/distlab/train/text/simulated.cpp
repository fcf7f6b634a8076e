#include "distlab/train/text/simulated.h"

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/trace/readable.h"

#include "distlab/file_text.h"
#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/step_timeline.h"
#include "distlab/train/text/text_data.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/text/text_schedule.h"
#include "distlab/waiting.h"
#include "mesh/simulated_step.h"

namespace distlab {
namespace {

// "12.3 ms  (40.1 %)"
std::string part(double seconds, double of) {
  return fmt::format("{:9.3f} ms {:6.1f} %", 1e3 * seconds, 100 * seconds / of);
}

// "10.08 billion"
std::string count_text(std::int64_t count) {
  const auto all = static_cast<double>(count);
  return all >= 1e9 ? fmt::format("{:.2f} billion", all / 1e9) : fmt::format("{:.2f} million", all / 1e6);
}

}  // namespace

void simulate_training(const TrainOptions& options) {
  const TextOptions& text = options.text;
  const dist::HybridOptions mesh = hybrid_options(text);
  const auto gpt = gpt_options(text, load_text(options).vocabulary.size());
  const std::int64_t rows = options.batch_size.value_or(default_text_batch);
  if (!options.plot.empty()) check_output_folder("--plot", options.plot);
  Waiting waiting(fmt::format("simulating a step on {}", dist::counted(mesh.shape.ranks(), "virtual rank")));
  const auto step = dist::simulate_step(gpt, mesh, {.topology = text.simulate, .rows = rows});
  waiting.clear();
  fmt::print(
      "a step of a GPT with {} parameters ({}, width {}, context {}) on {}: {} of {}\n"
      "{} per data rank, in {}, {}{}\n\n",
      count_text(step.parameters), dist::counted(gpt.layers, "layer"), gpt.width, gpt.context,
      mesh.shape.str(), dist::counted(mesh.shape.ranks(), "rank"), text.simulate,
      dist::counted(rows, "sequence"), dist::counted(mesh.micro_batches, "micro-batch", "micro-batches"),
      text.schedule, mesh.chunks > 1 ? fmt::format(", {} chunks", mesh.chunks) : "");
  fmt::print("  step       {}\n", part(step.step_s, step.step_s));
  fmt::print("  computing  {}  the mean over all ranks\n", part(step.compute_s, step.step_s));
  fmt::print("  bubble     {}  waiting for other stages, if messages took no time\n",
             part(step.bubble_s, step.step_s));
  fmt::print("  exposed    {}  communication that nothing overlaps with\n",
             part(step.exposed_s, step.step_s));
  fmt::print("  memory     {:>12}           at most, of a rank's tensors: f32, with AdamW\n",
             dist::trace::readable_bytes(step.peak_bytes));
  fmt::print("\nvirtual time, with the operations of matrix products and attention; it took {:.1f} s here\n",
             step.wall_s);
  if (options.plot.empty()) return;
  plot_timeline(
      options.plot, step.timeline, {mesh.shape.pp, mesh.micro_batches, mesh.chunks},
      fmt::format("A step on {} of {}: the pipeline of rank 0, in ms", mesh.shape.str(), text.simulate));
}

}  // namespace distlab
