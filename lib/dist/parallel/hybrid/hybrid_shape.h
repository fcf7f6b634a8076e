// HybridShape: how many ways a model and its data are divided, by axis.
#pragma once

#include <string>
#include <string_view>

#include "dist/mesh/device_mesh.h"
#include "dist/nn/gpt.h"

namespace dist {

struct HybridShape {
  int dp = 1;      // data parallel: replicas, each with different rows of the batch
  int fsdp = 1;    // fully sharded: the same, but parameters are sharded
  int tp = 1;      // tensor parallel
  int pp = 1;      // pipeline parallel
  int cp = 1;      // context parallel: parts of each sequence
  int cp_row = 0;  // ranks in a row of a ring in two dimensions (context/ring_attention.h); 0: one ring

  int ranks() const { return dp * fsdp * tp * pp * cp; }
  int data_ranks() const { return dp * fsdp; }
  std::string str() const;  // "dp=2, tp=2": the axes with more than one rank; "1 rank"
};

// "dp=2,tp=4" or "dp=2 x tp=4": each axis at most once, in any order; "cp=8:4" is a ring in two dimensions,
// with rows of 4 ranks. Throws Error{invalid_argument} for anything else, in one line that names the axes.
HybridShape parse_hybrid_shape(std::string_view text);

// Throws Error{invalid_argument}, in one line that names the axis and what it does not divide, if this GPT
// cannot be divided that way: before anything is made or sent.
void check_hybrid(const HybridShape& shape, const nn::GptOptions& gpt, int world_size, int chunks = 1,
                  bool sequence_parallel = false);

// A mesh with the axes pp, dp, fsdp, cp, tp of all ranks of the default group, in that order: ranks of a
// tensor group are neighbours, since they send most. Collective.
DeviceMesh make_hybrid_mesh(const HybridShape& shape, Caller at = Caller::here());

}  // namespace dist
