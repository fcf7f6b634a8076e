// Copies: tensors that must be equal on all ranks of a group. Findings D11 to D13 are about copies that
// differ.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/check/finding.h"
#include "dist/core/tensor.h"

namespace dist::check {

// A tensor in few numbers. Equal tensors have equal ones; others do not, apart from differences as small as
// those of rounding.
struct Sketch {
  float norm = 0;
  std::array<float, 3> projections = {};  // on vectors of pseudo-random +1 and -1
  float tolerance = 0;                    // of the dtype: the part of the norm that rounding may change
};
Sketch sketch_of(const Tensor& tensor);

// What one rank has of some tensors.
struct Copies {
  int rank = 0;  // global
  Code code = Code::partial_sum;
  std::string axis = {};                // of the mesh along which they are copies: "tp"
  std::vector<std::string> names = {};  // "the input of fc"
  std::vector<Sketch> sketches = {};    // of each
  CallSite where = {};                  // the line that uses them
  // Partial sums: one rank has the sketches of the sum over the ranks, all others have sketches of 0.
  bool is_summand = false;
  std::string fix = {};  // of the finding; empty: as its code says

  // The same on all ranks that compare the same tensors: "the input of fc at train.cpp:12".
  std::string str() const;
};

// D11, D12 or D13 (where nothing is computed, so that the smallest difference is one) if they differ; names
// the last tensor that does, as errors of gradients spread towards the first. `all` has the copies of all
// ranks of a group, of the same tensors.
std::optional<Finding> explain_copies(std::span<const Copies> all);

}  // namespace dist::check
