// Direct algorithms on memory that the ranks do not map of each other: it passes through bounce buffers.
#include <chrono>
#include <latch>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/memory/arena.h"
#include "dist/core/tensor.h"
#include "dist/direct/bounce_steps.h"
#include "dist/transport/engine/tuning.h"

#include "direct_ranks.h"
#include "support/expect_error.h"
#include "support/slow_build.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

struct Mixture {
  const char* name;
  bool (*is_foreign)(int rank, int tensor);
};

constexpr Mixture mixtures[] = {
    {"all", [](int, int) { return true; }},
    {"rank 0", [](int rank, int) { return rank == 0; }},
    {"all but rank 0", [](int rank, int) { return rank != 0; }},
    {"every other tensor", [](int rank, int tensor) { return (rank + tensor) % 2 == 0; }},
};

constexpr auto window_elements = static_cast<std::int64_t>(direct::bounce_bytes / sizeof(double));

void run_mixed(DirectRank& rank, const AlgorithmEntry& algorithm, std::int64_t elements, DType dtype,
               std::span<const Mixture> whose = mixtures) {
  const int n = rank.size();
  const auto roots = has_root(algorithm.collective) ? std::set<int>{0, n - 1} : std::set<int>{0};
  for (const Mixture& mixture : whose)
    for (const int root : roots) {
      CollectiveCase c{.algorithm = &algorithm,
                       .counts = counts_for(algorithm, n, elements),
                       .dtype = dtype,
                       .root = root,
                       .in_place = root > 0,
                       .is_foreign = mixture.is_foreign};
      SCOPED_TRACE(c.str() + ", foreign: " + mixture.name);
      rank.run(c);
      c.in_place = !c.in_place;
      c.counts.assign(c.counts.size(), elements / 3);
      rank.run(c);
    }
}

// In a slow build on two ranks and three.
TEST(Foreign, EveryCollectiveWhoseverMemoryItIs) {
  const std::vector<int> worlds = slow_build ? std::vector{2, 3} : std::vector{1, 2, 3, 4, 5};
  for (const int n : worlds)
    run_direct_ranks(n, [](DirectRank& rank) {
      for (const std::int64_t elements : {std::int64_t{1025}, window_elements + 3001})
        for (const AlgorithmEntry& algorithm : direct_entries())
          run_mixed(rank, algorithm, elements, DType::f64);
    });
}

// A slow build tries a quarter of it: whose memory it is has nothing to do with the size of an element.
TEST(Foreign, EverySizeOfElement) {
  const auto whose = std::span(mixtures).first(slow_build ? 1 : std::size(mixtures));
  run_direct_ranks(2, [&](DirectRank& rank) {
    for (const DType dtype : {DType::u8, DType::bf16}) {
      const auto elements = static_cast<std::int64_t>(direct::bounce_bytes / size_of(dtype)) + 1;
      for (const AlgorithmEntry& algorithm : direct_entries())
        run_mixed(rank, algorithm, elements, dtype, whose);
    }
  });
}

// A rank's tensor over memory of its own, of several bounce buffers.
struct OwnMemory {
  explicit OwnMemory(float value, std::size_t buffers = 5)
      : values(buffers * direct::bounce_bytes / sizeof(float) - 7, value) {}
  std::vector<float> values;
  Tensor tensor = Tensor::from_blob(values.data(), {static_cast<std::int64_t>(values.size())});
};

TEST(Foreign, TakesTwoBounceBuffersOfMemoryWhateverTheSize) {
  constexpr int n = 3;
  constexpr std::size_t most = n * direct::bounce_count * direct::bounce_bytes;  // the ranks have one arena
  static_assert(most / n <= std::size_t{4} << 20);
  const std::size_t before = Arena::local().in_use();
  std::size_t during = 0;
  run_direct_ranks(n, [&](DirectRank& rank) {
    OwnMemory mine(1, 40);
    for (int i = 0; i < 2; ++i) rank.all_reduce(mine.tensor, two_shot_all_reduce);
    ASSERT_EQ(mine.values, std::vector<float>(mine.values.size(), n * n));
    if (rank.rank() == 0) during = Arena::local().in_use();
    rank.barrier();
  });
  EXPECT_EQ(during - before, most);
  EXPECT_EQ(Arena::local().in_use(), before) << "the buffers go with the group";
}

TEST(Foreign, AnotherSizeIsNamedOnBothSides) {
  run_direct_ranks(2, [](DirectRank& rank) {
    OwnMemory mine(1, static_cast<std::size_t>(rank.rank()) + 1);
    expect_error(Errc::mismatch, {"sizes"}, [&] { rank.all_reduce(mine.tensor, two_shot_all_reduce); });
  });
}

// Takes part in an all_reduce until it has filled its first buffer.
void begin_all_reduce(DirectRank& rank, const Tensor& data, const std::function<void()>& then) {
  const DirectCall call = rank.call(OpKind::all_reduce, data.dtype());
  const TensorView mine = data.flat();
  Round round(call.peers, call.terms, call.label);
  round.publish_in_place(mine);
  BounceSteps steps(round, {.mine = {&mine, 1},
                            .longest = mine.count,
                            .in_steps = round.any_bounced(),
                            .by_shares = true,
                            .written = true});
  steps.next();
  then();
}

TEST(Foreign, ARankThatGivesUpInTheMiddleIsNamed) {
  for (const bool mapped : {false, true})
    run_direct_ranks(2, [&](DirectRank& rank) {
      OwnMemory mine(1);
      if (rank.rank() == 1) return begin_all_reduce(rank, mine.tensor, [] {});
      Tensor data = mapped ? ones(mine.tensor.shape()) : mine.tensor;
      const auto began = std::chrono::steady_clock::now();
      expect_error(Errc::peer_failed, {"rank 1", "gave up"},
                   [&] { rank.all_reduce(data, two_shot_all_reduce); });
      EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
    });
}

TEST(Foreign, ARankThatStaysAwayInTheMiddleIsNamed) {
  std::latch over(1);
  run_direct_ranks(2, [&](DirectRank& rank) {
    OwnMemory mine(static_cast<float>(rank.rank() + 1));
    if (rank.rank() == 1) return begin_all_reduce(rank, mine.tensor, [&] { over.wait(); });
    rank.set_timeout(200ms);
    expect_error(Errc::timeout, {"rank 1"}, [&] { rank.all_reduce(mine.tensor, two_shot_all_reduce); });
    over.count_down();
  });
}

TEST(Foreign, NobodyTouchesMappedMemoryThatWasGivenUp) {
  std::latch given_up(1), seen(1);
  run_direct_ranks(2, [&](DirectRank& rank) {
    OwnMemory mine(2);
    if (rank.rank() == 0) {
      Tensor data = ones(mine.tensor.shape());
      rank.set_timeout(100ms);
      expect_error(Errc::timeout, {}, [&] { rank.all_reduce(data, two_shot_all_reduce); });
      given_up.count_down();
      seen.wait();
      EXPECT_TRUE(equal(data, ones(data.shape()))) << "written after it was given up";
    } else {
      given_up.wait();
      expect_error(Errc::peer_failed, {"gave up"},
                   [&] { rank.all_reduce(mine.tensor, two_shot_all_reduce); });
      seen.count_down();
    }
  });
}

}  // namespace
}  // namespace dist::test
