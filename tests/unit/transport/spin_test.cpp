#include "dist/transport/engine/spin.h"

#include <thread>

#include <gtest/gtest.h>

namespace dist::net {
namespace {

using namespace std::chrono_literals;

int looks_until_over(Spin& spin) {
  spin.restart();
  int looks = 1;
  while (!spin.is_over()) ++looks;
  return looks;
}

TEST(Spin, without_patience_it_is_over_at_once) {
  Spin spin(0us);
  EXPECT_EQ(looks_until_over(spin), 1);
}

TEST(Spin, looks_in_vain_make_it_impatient_and_a_success_patient_again) {
  Spin spin(20ms);
  const auto time = [&] {
    const auto start = Spin::Clock::now();
    looks_until_over(spin);
    return Spin::Clock::now() - start;
  };
  EXPECT_GE(time(), 20ms);
  for (int i = 0; i < 10; ++i) time();
  EXPECT_LT(time(), 20ms);
  spin.restart();
  for (int i = 0; i < 64; ++i) spin.is_over();
  spin.found();
  EXPECT_GE(time(), 20ms);
}

TEST(Spin, what_full_patience_would_have_seen_makes_it_patient_again) {
  for (const auto asleep : {10ms, 100ms}) {
    Spin spin(50ms);
    for (int i = 0; i < 10; ++i) looks_until_over(spin);  // it has given up
    std::this_thread::sleep_for(asleep);
    spin.found();
    const auto start = Spin::Clock::now();
    looks_until_over(spin);
    EXPECT_EQ(Spin::Clock::now() - start >= 50ms, asleep < 50ms) << asleep.count() << " ms";
  }
}

TEST(Spin, full_patience_is_tried_now_and_then) {
  Spin spin(5ms);
  int long_waits = 0;
  for (int i = 0; i < 64; ++i) {
    const auto start = Spin::Clock::now();
    looks_until_over(spin);
    long_waits += Spin::Clock::now() - start >= 5ms;
  }
  EXPECT_GE(long_waits, 2);
}

}  // namespace
}  // namespace dist::net
