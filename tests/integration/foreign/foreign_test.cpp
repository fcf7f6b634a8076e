// Tensors over memory that the other ranks do not map (Tensor::from_blob), ranks as processes.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/memory/arena.h"
#include "dist/dist.h"

#include "support/process_ranks.h"

namespace dist::test {
namespace {

using Values = std::vector<float>;

// Calls fn in a job of n processes; every rank must return.
void run_processes(int n, const std::function<void(int rank)>& fn) {
  ProcessRanks ranks(n, [&](int rank, const auto&) {
    init_process_group({.timeout = std::chrono::seconds(60)});
    fn(rank);
    destroy_process_group();
    return std::string("fine");
  });
  for (const auto& report : ranks.join(std::chrono::seconds(100))) EXPECT_EQ(report.text, "fine");
}

Tensor over(Values& values) { return Tensor::from_blob(values.data(), {std::ssize(values)}); }

void expect(const char* what, const Tensor& got, const std::vector<float>& value_of_part) {
  const Values found = got.to_vector<float>();
  const std::size_t each = found.size() / value_of_part.size();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const float wanted = value_of_part[i / each]; found[i] != wanted)
      throw std::runtime_error(fmt::format("{}: element {} is {}, not {}", what, i, found[i], wanted));
}

// A tensor over memory that is not the library's, or over the library's.
class Memory {
 public:
  Memory(bool is_foreign, std::int64_t count, float value)
      : values_(is_foreign ? static_cast<std::size_t>(count) : 0),
        tensor_(is_foreign ? over(values_) : empty({count})) {
    tensor_.fill_(value);
  }
  Tensor& operator*() { return tensor_; }

 private:
  Values values_;
  Tensor tensor_;
};

// Rank r has the value r + 1; in a list, r's part for rank p has the value 10 (r + 1) + p.
void call_everything(int rank, int n, bool is_foreign, std::int64_t count) {
  const auto me = static_cast<float>(rank + 1);
  const auto list_of = [&](int from) {
    std::vector<float> values;
    for (int to = 0; to < n; ++to) values.push_back(static_cast<float>(10 * (from + 1) + to));
    return values;
  };
  std::vector<float> everybody, column;
  float sum = 0, sum_of_column = 0;
  for (int r = 0; r < n; ++r) {
    everybody.push_back(static_cast<float>(r + 1));
    column.push_back(list_of(r)[static_cast<std::size_t>(rank)]);
    sum += everybody.back();
    sum_of_column += column.back();
  }
  const auto make = [&](std::int64_t elements, float value) { return Memory(is_foreign, elements, value); };
  const auto make_list = [&] {
    Memory list = make(n * count, 0);
    for (int to = 0; to < n; ++to)
      (*list).narrow(to * count, count).fill_(list_of(rank)[static_cast<std::size_t>(to)]);
    return list;
  };
  const auto parts = [&](Memory& whole) {
    std::vector<Tensor> views;
    for (int r = 0; r < n; ++r) views.push_back((*whole).narrow(r * count, count));
    return views;
  };

  Memory reduced = make(count, me), whole = make(n * count, -1), list = make_list(), out = make(count, -1);
  all_reduce(*reduced);
  expect("all_reduce", *reduced, {sum});
  Memory mean = make(count, me);
  all_reduce(*mean, ReduceOp::avg, {.async_op = true}).wait();
  expect("all_reduce, asynchronous", *mean, {sum / static_cast<float>(n)});
  all_to_all_single(*whole, *list);
  expect("all_to_all", *whole, column);
  reduce_scatter_tensor(*out, *list);
  expect("reduce_scatter", *out, {sum_of_column});
  for (const int root : {0, n - 1}) {
    Memory mine = make(count, me);
    reduce(*mine, root);
    expect("reduce", *mine, {rank == root ? sum : me});
    (*mine).fill_(me);
    all_gather_into_tensor(*whole, *mine);
    expect("all_gather", *whole, everybody);
    (*whole).fill_(0);
    std::vector<Tensor> outs = rank == root ? parts(whole) : std::vector<Tensor>{};
    gather(*mine, outs, root);
    if (rank == root) expect("gather", *whole, everybody);
    scatter(*mine, rank == root ? parts(list) : std::vector<Tensor>{}, root);
    expect("scatter", *mine, {list_of(root)[static_cast<std::size_t>(rank)]});
    broadcast(*mine, root);
    expect("broadcast", *mine, {list_of(root)[static_cast<std::size_t>(root)]});
  }
}

// This comes first: a process reads the level of its log only once.
TEST(Foreign, IsSaidOnceAGroup) {
  ASSERT_EQ(setenv("DIST_LOG", "info", 1), 0);
  testing::internal::CaptureStderr();
  run_processes(2, [](int rank) {
    Values values(100'000, static_cast<float>(rank + 1));
    Tensor mine = over(values);
    const ProcessGroup both = new_group({0, 1});
    for (int i = 0; i < 3; ++i) all_reduce(mine);
    for (int i = 0; i < 3; ++i) broadcast(mine, 0, {.group = both});
    Tensor other = ones({100'000});
    all_reduce(other);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  int times = 0;
  const std::string advice = "need no copies";
  for (auto at = said.find(advice); at != std::string::npos; at = said.find(advice, at + 1)) ++times;
  EXPECT_EQ(times, 2 + 2) << "each rank, for each group:\n" << said;
}

TEST(Foreign, EveryCollectiveWhoseverMemoryItIs) {
  for (const int n : {2, 3, 5})
    run_processes(n, [n](int rank) {
      for (const std::int64_t count : {100, 5'000, 200'003})
        for (int who = 0; who < 3; ++who) call_everything(rank, n, who == 2 || rank % 2 == who, count);
    });
}

TEST(Foreign, NeedsFourMiBAtMostForTensorsOfSixtyFour) {
  run_processes(3, [](int rank) {
    Values values(std::size_t{16} << 20, static_cast<float>(rank + 1));
    Tensor mine = over(values);
    all_reduce(mine);
    expect("all_reduce", mine, {6});
    broadcast(mine, 2);
    reduce(mine, 1);
    expect("reduce", mine, {rank == 1 ? 18.F : 6.F});
    const std::size_t most = Arena::local().peak();
    if (most > std::size_t{4} << 20) throw std::runtime_error(fmt::format("{} bytes of the arena", most));
  });
}

}  // namespace
}  // namespace dist::test
