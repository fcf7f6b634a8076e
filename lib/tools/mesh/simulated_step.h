// simulate_step(): how long a training step of a GPT on a mesh takes on a machine that you do not have, where
// that time goes, and what a rank holds. It runs on virtual ranks whose floating point numbers have no values
// (sim::RunOptions::values), so that the model may be larger than this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/pipeline/timeline.h"

namespace dist {

struct SimulatedStep {
  // Virtual seconds, from the first rank's start to the last one's end: gradients, clipping, AdamW. It is the
  // sum of the next three.
  double step_s = 0;
  double compute_s = 0;          // what charge_flops() (flop_clock.h) charges a rank; the mean over all ranks
  double bubble_s = 0;           // how long it waits for other stages, even if messages take no time
  double exposed_s = 0;          // the rest: communication that nothing overlaps with
  std::uint64_t peak_bytes = 0;  // held at once in the step by the rank that holds most
  std::uint64_t messages = 0, bytes = 0;  // of all ranks in both steps; sent by the rank that sends most
  std::int64_t parameters = 0;            // of the whole model
  double wall_s = 0;                      // real seconds that all this took
  pipeline::Timeline timeline;            // of the pipeline of rank 0
};

// What to simulate.
struct SimulatedStepOptions {
  std::string topology = "dgx-h100-ndr";
  std::int64_t rows = 1;     // sequences of a whole context per data rank
  double flops = 0;          // floating point operations per second of a rank; 0: the topology's
  DType dtype = DType::f32;  // of HybridGpt
  bool values = false;       // true: everything is computed; the result is the same
};

// Simulates the second of two steps. The mesh has as many ranks as options.shape says. Throws
// Error{invalid_argument} for a topology that does not say how fast a GPU computes ("tflops"), and what
// HybridGpt and sim::run() throw; Error{internal} with the report's text if a rank fails.
SimulatedStep simulate_step(const nn::GptOptions& gpt, const HybridOptions& options,
                            const SimulatedStepOptions& simulated);

}  // namespace dist
