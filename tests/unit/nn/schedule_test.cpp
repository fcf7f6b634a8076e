#include "dist/nn/schedule.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace dist::nn {
namespace {

// What nanoGPT's get_lr(it) returns for learning_rate 1, min_lr 0.1, warmup_iters 4, lr_decay_iters 12.
TEST(Schedule, IsNanoGptsGetLr) {
  const Schedule schedule{.decay = Decay::cosine, .peak = 1, .least = 0.1, .warmup = 4, .until = 12};
  const auto cosine = [](double progress) {
    return 0.1 + 0.5 * (1 + std::cos(std::numbers::pi * progress)) * 0.9;
  };
  const std::array expected{0.2, 0.4, 0.6, 0.8, 1.0, cosine(0.125), cosine(0.25), cosine(0.375), 0.55};
  for (std::size_t step = 0; step < expected.size(); ++step)
    EXPECT_NEAR(lr_at(schedule, static_cast<std::int64_t>(step)), expected[step], 1e-15) << step;
  for (const std::int64_t step :
       {std::int64_t{12}, std::int64_t{13}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(lr_at(schedule, step), 0.1) << step;
}

TEST(Schedule, FallsInALineOrNotAtAll) {
  const Schedule line{.decay = Decay::linear, .peak = 8, .least = 0, .warmup = 1, .until = 9};
  for (const auto& [step, lr] :
       {std::pair{0, 4.0}, {1, 8.0}, {2, 7.0}, {5, 4.0}, {8, 1.0}, {9, 0.0}, {99, 0.0}})
    EXPECT_EQ(lr_at(line, step), lr) << step;
  const Schedule constant{.peak = 3, .warmup = 2};
  for (const auto& [step, lr] : {std::pair{0, 1.0}, {1, 2.0}, {2, 3.0}, {1000, 3.0}})
    EXPECT_EQ(lr_at(constant, step), lr) << step;
}

// The formula would divide by the number of steps between them.
TEST(Schedule, MayEndWithTheWarmUp) {
  for (const Decay decay : {Decay::linear, Decay::cosine}) {
    const Schedule schedule{.decay = decay, .peak = 8, .least = 2, .warmup = 3, .until = 3};
    EXPECT_EQ(lr_at(schedule, 2), 6);
    EXPECT_EQ(lr_at(schedule, 3), 2);
  }
}

}  // namespace
}  // namespace dist::nn
