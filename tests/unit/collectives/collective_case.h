// One collective with made-up inputs and the outputs that it must have, computed in the simplest way; used on
// every transport.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "dist/collectives/algorithms.h"

namespace dist {
// How GoogleTest names an algorithm in a failure: "ring all_reduce".
void PrintTo(const AlgorithmEntry& algorithm, std::ostream* out);
}  // namespace dist

namespace dist::test {

struct CollectiveCase {
  const AlgorithmEntry* algorithm = nullptr;
  std::vector<std::int64_t> counts;  // elements of each rank's part; where all have the same data, counts[0]
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  bool in_place =
      false;  // where the collective has an `in` or `out` that may be the memory of outs[rank], ins[rank]
  // Whether the rank's tensor of this number, counted from 0, is in memory that is not the library's. Empty:
  // none.
  std::function<bool(int rank, int tensor)> is_foreign = {};

  int ranks() const { return static_cast<int>(counts.size()); }
  std::string str() const;
};

// One rank's part: makes its inputs, runs the algorithm and compares. Throws Error{internal} naming the first
// element that is wrong: in a result, in an input (inputs must not change), or just outside of one of them.
void run_case(Transport& net, const CollectiveCase& c);
// The same with another way to run the algorithm.
using RunAlgorithm = std::function<void(const CollectiveArgs& args)>;
void run_case(int rank, const CollectiveCase& c, const RunAlgorithm& how);

bool has_root(OpKind kind);
bool reduces(OpKind kind);
bool takes_uneven_counts(const AlgorithmEntry& algorithm);

}  // namespace dist::test
