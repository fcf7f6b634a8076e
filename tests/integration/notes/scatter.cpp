// Rank 0 deals out its list: two numbers for each rank. The others hold their own two numbers and no list.
#include "notes.h"

namespace {

void program(int rank, int world_size) {
  std::vector<dist::Tensor> list;
  if (rank == 0) {
    for (int i = 0; i < world_size; ++i) {
      list.push_back(dist::tensor({i * 10.f, i * 10.f + 1}));
      notes::say("rank 0 has for rank {}: {}", i, notes::show(list.back()));
    }
  }
  auto mine = dist::zeros({2});
  notes::say("rank {} begins with {}", rank, notes::show(mine));
  dist::scatter(mine, list, 0);
  notes::say("rank {} got {}", rank, notes::show(mine));
}

}  // namespace

int main() { return notes::run(4, program); }
