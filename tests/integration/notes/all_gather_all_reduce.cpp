// all_gather keeps every rank's numbers apart, all_reduce adds them up.
#include "notes.h"

namespace {

void program(int rank, int world_size) {
  const auto mine = dist::tensor({rank * 10.f, rank * 10.f + 1});

  std::vector<dist::Tensor> all;
  for (int i = 0; i < world_size; ++i) all.push_back(dist::zeros({2}));  // each a tensor of its own
  dist::all_gather(all, mine);
  if (rank == 0) {
    for (int i = 0; i < world_size; ++i) {
      notes::say("gathered from rank {}: {}", i, notes::show(all[static_cast<std::size_t>(i)]));
    }
  }

  auto sum = mine.clone();  // all_reduce works in place: a copy keeps the original
  dist::all_reduce(sum, dist::ReduceOp::sum);
  notes::say("rank {} had {} and reduced to {}", rank, notes::show(mine), notes::show(sum));
}

}  // namespace

int main() { return notes::run(4, program); }
