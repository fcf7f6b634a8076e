// What the exchange and the ring have in common: rank r gives its tensor to rank to[r] and gets the tensor of
// another rank.
#pragma once

#include <string>
#include <vector>

#include "support.h"

namespace lab03 {

// The names of the two tensors in the contract.
struct Names {
  std::string given, filled;
};

struct Transfer {
  Trial trial;
  std::vector<int> to;        // the rank to which rank r's tensor goes; each rank gets one
  std::vector<Values> given;  // [rank]

  int length() const { return static_cast<int>(given.front().size()); }
  Values expected(int rank) const;                // what this rank must get
  bool is_right(const judge::SimRun& run) const;  // reports nothing
  // Returns false after a failure.
  bool expect_transferred(const judge::SimRun& run, const Names& names) const;
};

Transfer make_transfer(Random& random, const std::string& call, const std::vector<int>& to, int length);
void diagnose_not_blocking();

}  // namespace lab03
