// A relay: rank 0 hands two numbers to rank 1, which doubles them and hands them on to rank 2.
#include "notes.h"

namespace {

void program(int rank, int) {
  if (rank == 0) {
    const auto data = dist::tensor({100.f, 200.f});
    notes::say("rank 0 has {}", notes::show(data));
    dist::send(data, 1);  // returns when rank 1 is receiving
    notes::say("rank 0 has sent");
  } else if (rank == 1) {
    auto data = dist::zeros({2});  // room for what comes, of the same size
    dist::recv(data, 0);
    notes::say("rank 1 got {}", notes::show(data));
    data = data * 2;
    notes::say("rank 1 made of it {}", notes::show(data));
    dist::send(data, 2);
    notes::say("rank 1 has sent");
  } else {
    auto data = dist::zeros({2});
    dist::recv(data, 1);
    notes::say("rank 2 got {}", notes::show(data));
  }
}

}  // namespace

int main() { return notes::run(3, program); }
