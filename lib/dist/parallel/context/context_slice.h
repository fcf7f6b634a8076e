// ContextSlice: which tokens of a sequence each rank of a context-parallel group has.
//
// Contiguous: rank r has the r-th of n parts. Balanced, for causal attention, in which a later query sees
// more keys: the sequence is cut into 2n parts, and rank r has parts r and 2n - 1 - r, so that every rank
// computes about as many scores. Parts differ by at most one token.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/nn/module.h"

namespace dist {

struct ContextSlice {
  std::int64_t tokens = 0;  // of the whole sequence
  int ranks = 1;
  bool balanced = true;

  using Runs = std::vector<nn::Position::Run>;
  Runs runs(int rank) const;            // one, or two if balanced; a run may be empty
  std::int64_t count(int rank) const;   // of a rank's tokens
  std::int64_t scores(int rank) const;  // pairs of a query of this rank and a key that it sees
  // This rank's entries of axis 1 of [batch, tokens, ...], one run after the other.
  Tensor slice(const Tensor& whole, int rank) const;
};

}  // namespace dist
