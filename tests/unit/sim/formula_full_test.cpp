// The formulas again with millions of messages: rings on 4,096 ranks, everything with n^2 messages on 1,024.
#include <gtest/gtest.h>

#include "formulas.h"

namespace dist::test {
namespace {

std::vector<Formula> quadratic(const std::string& algorithm = "") {
  std::vector<Formula> some = formulas();
  std::erase_if(some, [&](const Formula& formula) {
    return !formula.quadratic || (!algorithm.empty() && formula.algorithm->name != algorithm);
  });
  return some;
}

std::string test_name(const testing::TestParamInfo<Formula>& instance) { return instance.param.name(); }

class Quadratic : public testing::TestWithParam<Formula> {};
class Ring : public testing::TestWithParam<Formula> {};
INSTANTIATE_TEST_SUITE_P(Table, Quadratic, testing::ValuesIn(quadratic()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, Ring, testing::ValuesIn(quadratic("ring")), test_name);

TEST_P(Quadratic, OnAThousandRanks) {
  if (slow_build) GTEST_SKIP() << "millions of messages";
  for (const int n : {1000, 1024}) expect_time(GetParam(), n, 10'000);
}

TEST_P(Ring, OnFourThousandRanks) {
  if (slow_build) GTEST_SKIP() << "33 million messages";
  expect_time(GetParam(), 4096, 1 << 20);
}

}  // namespace
}  // namespace dist::test
