// Which rank writes which pieces of a save, computed alike on every rank from what all of them have, and
// whether that is a whole state.
#pragma once

#include <string>
#include <vector>

#include "dist/core/json.h"
#include "dist/parallel/checkpoint/pieces.h"

namespace dist {

// What a rank has, for the others.
std::string told(const Pieces& pieces);

struct SavePlan {
  Json tensors = Json::object();      // the index
  std::vector<std::string> own_keys;  // of this rank's pieces, in their order; empty: another rank writes it
  // Of this rank's pieces, in their order: whether another rank has the same box, so that values must be
  // equal.
  std::vector<bool> has_copies;
  bool any_copies = false;  // on some rank
};

// Each distinct box goes to the first rank that has it. `all` is what every rank has told. Throws
// Error{mismatch}, the same on every rank, for ranks that disagree about a tensor, and for boxes that reach
// beyond their tensor, overlap, or leave elements out.
SavePlan plan_save(const std::vector<std::string>& all, int rank);

// The name of a rank's file.
std::string file_of(int rank);

}  // namespace dist
