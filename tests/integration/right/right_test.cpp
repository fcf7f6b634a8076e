// No false alarm: `./distlab sim PROGRAM` of every program here that is correct ends with exit code 0, and
// prints one line for each run of ranks, which says how long it took; there is neither a finding nor a note.
// (The correct twins of wrong programs: ../wrong.)
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/launchers/run_program.h"

namespace {

struct Program {
  std::string name;
  std::vector<int> ranks;  // 0: as many as it asks for
  std::vector<std::string> arguments = {};
  std::size_t runs = 1;  // of ranks: how often it spawns them
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

const std::vector<Program> programs{
    {"notes_init_process_group", {0, 1, 2, 5, 32}},
    {"notes_new_group", {0, 2, 5, 32}},
    {"notes_send_recv", {0}},  // a relay of three
    {"notes_isend_irecv", {0}},
    {"notes_all_gather_all_reduce", {0, 1, 2, 5, 32}},
    {"notes_softmax", {0, 1, 2, 5, 32}},
    {"notes_broadcast", {0, 2, 5, 32}},
    {"notes_scatter", {0, 1, 2, 5, 32}},
    {"same_program", {1, 2, 3, 5, 8, 64, 100}, {"processes", "4"}},
    {"same_program", {0}, {"threads", "4"}},
#ifdef WITH_SOLUTIONS
    {"lab_00_solution_demo", {0}},
    {"lab_01_solution_demo", {0}},
    {"lab_08_solution_demo", {0}, {}, 3},
#endif
};

class RightProgram : public testing::TestWithParam<Program> {
 protected:
  static void expect_nothing_is_said(const std::vector<std::string>& options) {
    std::vector<std::string> line{DISTLAB_PROGRAM, "sim", PROGRAMS + ("/" + GetParam().name)};
    line.insert(line.end(), options.begin(), options.end());
    line.insert(line.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    const auto ran = dist_test::run_program(line);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    const auto said = dist_test::lines_of(ran.err);
    EXPECT_EQ(said.size(), GetParam().runs) << ran.err;
    for (const auto& line_said : said) {
      const bool is_summary = line_said.starts_with("simulated: ") || line_said.starts_with("no finding in ");
      EXPECT_TRUE(is_summary) << ran.err;
    }
  }
};

TEST_P(RightProgram, IsLeftAlone) {
  for (const int ranks : GetParam().ranks) {
    SCOPED_TRACE(fmt::format("{} ranks", ranks));
    if (ranks == 0)
      expect_nothing_is_said({});
    else
      expect_nothing_is_said({"-n", fmt::to_string(ranks)});
  }
}

TEST_P(RightProgram, IsLeftAloneInOtherSchedules) { expect_nothing_is_said({"--explore", "30"}); }

INSTANTIATE_TEST_SUITE_P(All, RightProgram, testing::ValuesIn(programs), [](const auto& instance) {
  const auto& arguments = instance.param.arguments;
  return instance.param.name + (arguments.empty() ? "" : "_" + arguments[0]);
});

}  // namespace
