// The timeline of a training step on a mesh: when each rank computed which micro-batch.
#pragma once

#include <filesystem>
#include <string>

#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/pipeline/timeline.h"

namespace distlab {

// What all ranks computed in the model's last step, which they began together; collective. If there are more
// than 16 ranks, only those of rank 0's pipeline.
dist::pipeline::Timeline gather_timeline(const dist::HybridGpt& model, const dist::HybridShape& shape);

// "timeline of a step: 12.3 ms on 4 ranks, which compute for 61 % of it".
std::string timeline_line(const dist::pipeline::Timeline& timeline);

// Writes timeline.svg into the folder, in ms. Throws Error{resource} if it cannot be written.
void plot_timeline(const std::filesystem::path& folder, dist::pipeline::Timeline timeline,
                   const dist::pipeline::Shape& shape, const std::string& title);

}  // namespace distlab
