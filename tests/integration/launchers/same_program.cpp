// One program, started in every way there is: each rank checks what it computes, the exit code tells.
//   same_program                     as a rank, by whatever launcher
//   same_program stay                as a rank, with barriers until another rank dies
//   same_program processes|threads N starts its own ranks by spawn
//   same_program careless            as a rank, with an error that nothing catches
//   same_program careless N starts N ranks that end in this way
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/dist.h"

namespace {

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(fmt::format("rank {}: wrong {}", dist::get_rank(), what));
}

void check_all_reduce(int rank, int n) {
  auto t = dist::full({1000}, rank + 1);
  dist::all_reduce(t);
  const auto expected = std::vector<float>(1000, static_cast<float>(n * (n + 1) / 2));
  expect(t.to_vector<float>() == expected, "all_reduce");
}

// Each rank sends to the next one, both ways at once.
void check_ring(int rank, int n) {
  const auto mine = dist::full({7}, rank, dist::DType::i64);
  auto got = dist::zeros({7}, dist::DType::i64);
  auto put = dist::isend(mine, (rank + 1) % n);
  dist::irecv(got, (rank + n - 1) % n).wait();
  put.wait();
  expect(got.to_vector<std::int64_t>() == std::vector<std::int64_t>(7, (rank + n - 1) % n), "ring shift");
}

// Even and odd ranks apart; a job of one has no odd ranks.
void check_new_group(int rank, int n) {
  for (int parity = 0; parity < std::min(n, 2); ++parity) {
    std::vector<int> members;
    for (int r = parity; r < n; r += 2) members.push_back(r);
    const auto group = dist::new_group(members);
    if (rank % 2 != parity) continue;
    auto t = dist::full({3}, 1, dist::DType::i32);
    dist::all_reduce(t, dist::ReduceOp::sum, {.group = group});
    expect(t.to_vector<int>() == std::vector<int>(3, static_cast<int>(members.size())),
           "sum of the subgroup");
  }
}

void check_objects(int rank, int n) {
  const auto all = dist::all_gather_object(std::string(static_cast<std::size_t>(rank), 'x'));
  expect(static_cast<int>(all.size()) == n, "number of objects");
  for (int r = 0; r < n; ++r)
    expect(static_cast<int>(all[static_cast<std::size_t>(r)].size()) == r, "object");
}

void rank_main() {
  dist::init_process_group();
  const int rank = dist::get_rank(), n = dist::get_world_size();
  check_all_reduce(rank, n);
  check_ring(rank, n);
  check_new_group(rank, n);
  check_objects(rank, n);
  dist::barrier();
  if (rank == 0) fmt::print("all {} ranks agree\n", n);
  dist::destroy_process_group();
}

// Until another rank has died.
[[noreturn]] void stay() {
  dist::init_process_group();
  dist::barrier();
  fmt::print("rank {} stays\n", dist::get_rank());
  std::fflush(stdout);
  for (;;) dist::barrier();
}

[[noreturn]] void be_careless() {
  dist::init_process_group();
  dist::barrier();
  throw std::runtime_error("nothing catches this");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "careless") == 0) be_careless();
  if (argc == 3 && std::strcmp(argv[1], "careless") == 0)
    dist::spawn(std::atoi(argv[2]), [](int) { be_careless(); });
  try {
    if (argc == 3) {
      const auto as = std::strcmp(argv[1], "threads") == 0 ? dist::Ranks::threads : dist::Ranks::processes;
      dist::spawn(
          std::atoi(argv[2]), [](int) { rank_main(); }, as);
    } else if (argc == 2 && std::strcmp(argv[1], "stay") == 0) {
      stay();
    } else {
      rank_main();
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
