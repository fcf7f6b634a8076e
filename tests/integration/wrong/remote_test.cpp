// The same programs, each rank a process: the simulation says exactly the same about them.
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "programs.h"
#include "sources.h"
#include "support/forked_ranks.h"

namespace dist::test {

void PrintTo(const WrongProgram& program, std::ostream* out);

namespace {

class AsProcesses : public testing::TestWithParam<WrongProgram> {
 protected:
  void expect_the_same(void (*rank_main)(int)) const {
    sim::RunOptions options;
    options.ranks = Source(GetParam().name).ranks;
    const auto fibers = sim::run(options, rank_main), processes = simulate_forked(options, rank_main);
    EXPECT_EQ(processes.text(), fibers.text());
    EXPECT_EQ(processes.messages, fibers.messages);
    EXPECT_EQ(processes.virtual_time_s, fibers.virtual_time_s);
    EXPECT_EQ(processes.peak_buffer_bytes, fibers.peak_buffer_bytes);
  }
};

TEST_P(AsProcesses, TheSameIsFound) { expect_the_same(GetParam().wrong); }
TEST_P(AsProcesses, ItsTwinIsRight) { expect_the_same(GetParam().right); }

INSTANTIATE_TEST_SUITE_P(All, AsProcesses,
                         testing::ValuesIn(wrong_programs().begin(), wrong_programs().end()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace dist::test
