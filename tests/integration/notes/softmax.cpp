// Bigger functions out of small reductions: a weighted sum, a softmax over the ranks for each element, and a
// division by the L2 norm over the ranks.
#include "notes.h"

namespace {

dist::Tensor reduced(const dist::Tensor& t, dist::ReduceOp op) {
  auto result = t.clone();
  dist::all_reduce(result, op);
  return result;
}

void program(int rank, int) {
  using dist::ReduceOp;
  const auto x = dist::tensor({rank + 1.f, rank + 2.f, rank + 3.f});

  const auto weighted =
      reduced(x * dist::tensor({0.3f, 0.3f, 0.4f}), ReduceOp::sum);  // a weight for each element
  const auto halved = reduced(x, ReduceOp::premul_sum(0.5));         // one factor for all of them

  const auto largest = reduced(x, ReduceOp::max);  // subtracted first: exp of a large number overflows
  const auto exps = dist::exp(x - largest);
  const auto total = reduced(exps, ReduceOp::sum);

  const auto squares = reduced(x * x, ReduceOp::sum);

  if (rank == 0) {
    notes::say("weighted sums {}", notes::show(weighted, 4));
    notes::say("half of the sums {}", notes::show(halved, 4));
    notes::say("largest {}", notes::show(largest, 4));
    notes::say("sums of exponentials {}", notes::show(total, 4));
    notes::say("sums of squares {}", notes::show(squares, 4));
  }
  notes::say("rank {}: softmax {}", rank, notes::show(exps / total, 4));
  notes::say("rank {}: over the L2 norm {}", rank, notes::show(x / dist::sqrt(squares), 4));
}

}  // namespace

int main() { return notes::run(4, program); }
