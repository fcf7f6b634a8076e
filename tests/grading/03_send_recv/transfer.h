// What the exchange and the ring have in common: rank r gives its tensor to rank to[r], and gets another's.
#pragma once

#include <string>
#include <vector>

#include "support.h"

namespace lab03 {

// Of the two tensors, in the contract.
struct Names {
  std::string given, filled;
};

struct Transfer {
  Trial trial;
  std::vector<int> to;        // whom rank r's tensor goes to; each rank gets one
  std::vector<Values> given;  // [rank]

  int length() const { return static_cast<int>(given.front().size()); }
  Values expected(int rank) const;                // what this rank gets
  bool is_right(const judge::SimRun& run) const;  // says nothing
  // False after a failure.
  bool expect_transferred(const judge::SimRun& run, const Names& names) const;
};

Transfer make_transfer(Random& random, const std::string& call, const std::vector<int>& to, int length);
void diagnose_not_blocking();

}  // namespace lab03
