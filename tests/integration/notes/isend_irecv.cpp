// The same relay without blocking: every rank works while its transfer is under way, and touches the buffer
// only after wait().
#include <thread>

#include "notes.h"

namespace {

void other_work(int rank) {
  notes::say("rank {} works meanwhile", rank);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void program(int rank, int) {
  if (rank == 0) {
    const auto data = dist::tensor({100.f, 200.f});
    notes::say("rank 0 has {}", notes::show(data));
    auto sending = dist::isend(data, 1);
    other_work(rank);
    sending.wait();  // now `data` may be changed
    notes::say("rank 0 has sent");
  } else if (rank == 1) {
    auto data = dist::zeros({2});
    auto receiving = dist::irecv(data, 0);
    other_work(rank);
    receiving.wait();  // now `data` may be read
    notes::say("rank 1 got {}", notes::show(data));
    data = data * 2;
    notes::say("rank 1 made of it {}", notes::show(data));
    auto sending = dist::isend(data, 2);
    other_work(rank);
    sending.wait();
    notes::say("rank 1 has sent");
  } else {
    auto data = dist::zeros({2});
    auto receiving = dist::irecv(data, 1);
    other_work(rank);
    receiving.wait();
    notes::say("rank 2 got {}", notes::show(data));
  }
}

}  // namespace

int main() { return notes::run(3, program); }
