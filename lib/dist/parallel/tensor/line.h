// The collectives of tensor and sequence parallelism, among the ranks of one line of a mesh. A sequence
// [batch, time, width] is divided along time, in equal parts: rank 0 has the first tokens of every row of the
// batch.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/group/process_group.h"

namespace dist {

struct TensorLine {
  ProcessGroup group;
  std::string axis;  // of the mesh, for messages: "tp"
  CallSite where;    // the user's line that made the module parallel, for messages of the collectives
  std::string layer = "the module";  // its name, for findings

  int size() const { return group.size(); }
  int rank() const { return group.rank(); }
};

// A collective that has been started, and its result. With `async`, wait() ends it.
class PendingTensor {
 public:
  PendingTensor() = default;
  PendingTensor(Work work, Tensor result, std::vector<Tensor> parts, Tensor source = {})
      : work_(std::move(work)),
        result_(std::move(result)),
        parts_(std::move(parts)),
        source_(std::move(source)) {}
  // Blocks until the result is there. Call it once.
  Tensor wait();

 private:
  Work work_;
  Tensor result_;              // undefined: the parts, joined along time
  std::vector<Tensor> parts_;  // what the collective reads or writes
  Tensor source_;              // and what else it reads
};

// This rank's part of the time. Does not communicate. Throws Error{invalid_argument} if the time is not a
// multiple of the ranks.
Tensor part_of_time(const Tensor& whole, const TensorLine& line);
// The reverse, from the parts of all ranks: an all-gather.
PendingTensor gather_time(const Tensor& part, const TensorLine& line, bool async = false);
// Every rank has one summand of the whole: this rank's part of the sum.
PendingTensor reduce_scatter_time(const Tensor& summand, const TensorLine& line, bool async = false);
// The whole sum, in the summand's memory.
PendingTensor sum_over(Tensor summand, const TensorLine& line, bool async = false);

// Every rank has this tensor as a whole: "the input of" line.layer. Finding D11 if they differ; costs nothing
// where no check is on (group/diagnosis/compare_copies.h).
void expect_whole(const Tensor& tensor, std::string_view what, const TensorLine& line);
// Exactly one rank's summand of a sum over the ranks has this.
void expect_in_one_summand(bool has_it, std::string_view what, const TensorLine& line);

}  // namespace dist
