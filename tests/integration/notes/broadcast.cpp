// Two broadcasts from two roots, into tensors that already exist on every rank.
#include "notes.h"

namespace {

void program(int rank, int) {
  auto first = rank == 0 ? dist::tensor({1.f, 2.f, 3.f, 4.f, 5.f}) : dist::zeros({5});
  auto second = rank == 1 ? dist::tensor({10.f, 20.f, 30.f}) : dist::zeros({3});
  notes::say("rank {} begins with {} and {}", rank, notes::show(first), notes::show(second));

  dist::broadcast(first, 0);
  notes::say("rank {} after rank 0's: {} and {}", rank, notes::show(first), notes::show(second));

  dist::broadcast(second, 1);
  notes::say("rank {} after rank 1's: {} and {}", rank, notes::show(first), notes::show(second));
}

}  // namespace

int main() { return notes::run(4, program); }
