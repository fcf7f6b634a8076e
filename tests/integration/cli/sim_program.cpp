// A program for `distlab sim` to run: what its first argument says.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "dist/dist.h"

int last_rank = -1;
int* volatile nowhere = nullptr;

namespace {

// Rank 0 believes that messages come in the order of their senders.
void believe_in_order(int rank) {
  dist::Tensor mine = dist::full({1}, rank), theirs = dist::zeros({1});
  dist::sim::compute(1e-6 * rank);
  if (rank > 0) return void(dist::send(mine, 0));
  for (int from = 1; from < dist::get_world_size(); ++from) {
    dist::recv(theirs);
    if (theirs.item<int>() != from) throw std::runtime_error("took the order for granted");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string deed = argc > 1 ? argv[1] : "sum";
  if (deed == "nothing") return 0;
  if (deed == "--option") return fmt::print("my own option\n"), 0;
  if (deed == "join") {  // as started by distrun
    try {
      dist::init_process_group();
    } catch (const dist::Error& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 1;
    }
  }
  try {
    dist::spawn(4, [&](int rank) {
      dist::init_process_group();
      dist::Tensor t = dist::ones({1});
      if (deed == "order") believe_in_order(rank);
      if (deed == "global") last_rank = rank;
      if (deed == "deadlock") dist::send(t, rank ^ 1);
      if (deed == "crash" && rank == 2) *nowhere = 1;
      if (deed == "raise" && rank == 2) std::raise(SIGSEGV);
      if (deed == "exit" && rank == 2) std::exit(0);
      if (deed == "throw" && rank == 2) throw std::runtime_error("out of paper");
      dist::all_reduce(t);
      if (rank == 0) fmt::print("the sum is {}\n", t.item<int>());
      dist::destroy_process_group();
    });
  } catch (const dist::Error& error) {
    fmt::print("main has caught: {}\n", error.what());
    return 7;
  }
}
