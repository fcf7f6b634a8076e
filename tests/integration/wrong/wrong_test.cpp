// Every wrong program is found, with the right code, ranks and lines; nothing is reported about its correct
// twin.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/launch/root_cause.h"

#include "programs.h"
#include "sources.h"
#include "support/expect_error.h"

namespace dist::test {

void PrintTo(const WrongProgram& program, std::ostream* out) { *out << program.name; }

namespace {

// "D1" of "d01_swap".
std::string code_of(const WrongProgram& program) {
  return "D" + std::to_string(std::stoi(std::string(program.name.substr(1, 2))));
}

sim::Report simulate(int ranks, void (*rank_main)(int)) {
  sim::RunOptions options;
  options.ranks = ranks;
  return sim::run(options, rank_main);
}

class Simulated : public testing::TestWithParam<WrongProgram> {};

TEST_P(Simulated, IsFound) {
  const WrongProgram& program = GetParam();
  if (program.found == Found::not_yet) GTEST_SKIP() << code_of(program) << " is not found yet";
  const Source source(program.name);
  const auto report = simulate(source.ranks, program.wrong);
  ASSERT_FALSE(report.findings.empty()) << report.text();
  std::set<int> ranks, lines;
  for (const check::Finding& finding : report.findings) {
    EXPECT_EQ(check::str(finding.code), code_of(program)) << report.text();
    for (const check::Party& party : finding.parties) {
      ranks.insert(party.rank);
      lines.insert(party.where.line);
      EXPECT_TRUE(party.where.str().starts_with(source.file)) << report.text();
    }
  }
  EXPECT_EQ(ranks, std::set<int>(program.ranks.begin(), program.ranks.end())) << report.text();
  EXPECT_EQ(lines, source.marked) << report.text();
}

TEST_P(Simulated, ItsTwinIsRight) {
  const Source source(GetParam().name);
  EXPECT_EQ(simulate(source.ranks, GetParam().right).text(), "");
}

// Runs it on real processes and returns all that they say: the error that ended them, and their log.
std::string run_for_real(int ranks, void (*rank_main)(int)) {
  const ScopedEnv timeout("DIST_TIMEOUT", "1");
  testing::internal::CaptureStderr();
  std::string text;
  try {
    spawn(ranks, rank_main);
  } catch (const Error& error) {
    text = error.what();
  }
  return text + testing::internal::GetCapturedStderr();
}

class OnHost : public testing::TestWithParam<std::tuple<WrongProgram, const char*>> {
 protected:
  void SetUp() override {
    debug_.emplace("DIST_DEBUG", program().found == Found::detail ? "detail" : "off");
    transport_.emplace("DIST_TRANSPORT", std::get<1>(GetParam()));
  }
  const WrongProgram& program() const { return std::get<0>(GetParam()); }

 private:
  std::optional<ScopedEnv> debug_, transport_;
};

TEST_P(OnHost, IsFound) {
  const Source source(program().name);
  const std::string text = run_for_real(source.ranks, program().wrong);
  const auto finding = text.find(code_of(program()) + ' ');
  ASSERT_NE(finding, text.npos) << text;
  const std::string said = text.substr(finding);
  for (const int line : source.marked)
    EXPECT_NE(said.find(source.file + ':' + std::to_string(line)), said.npos) << line << ": " << text;
  const auto named = ranks_named(said);
  for (const int rank : program().ranks)
    EXPECT_TRUE(std::ranges::count(named, rank) > 0) << rank << ": " << text;
  EXPECT_NE(said.find("; fix: "), said.npos) << text;
}

TEST_P(OnHost, ItsTwinIsRight) { EXPECT_EQ(run_for_real(Source(program().name).ranks, program().right), ""); }

std::vector<WrongProgram> found_on_host() {
  std::vector<WrongProgram> programs;
  for (const WrongProgram& program : wrong_programs())
    if (program.found == Found::detail || program.found == Found::everywhere) programs.push_back(program);
  return programs;
}

INSTANTIATE_TEST_SUITE_P(All, Simulated, testing::ValuesIn(wrong_programs().begin(), wrong_programs().end()),
                         [](const auto& of) { return std::string(of.param.name); });
INSTANTIATE_TEST_SUITE_P(All, OnHost,
                         testing::Combine(testing::ValuesIn(found_on_host()), testing::Values("shm", "tcp")),
                         [](const auto& of) {
                           return std::string(std::get<0>(of.param).name) + '_' + std::get<1>(of.param);
                         });

TEST(WrongPrograms, TwoForEachFindingAndAllInTheTable) {
  std::map<std::string, int> programs;
  std::set<std::string> listed;
  for (const WrongProgram& program : wrong_programs()) {
    ++programs[code_of(program)];
    listed.insert(std::string(program.name));
  }
  EXPECT_EQ(programs.size(), 13u);
  for (const auto& [code, count] : programs) EXPECT_GE(count, 2) << code;
  for (const auto& entry : std::filesystem::directory_iterator(WRONG_FOLDER)) {
    const std::string name = entry.path().stem();
    if (name.size() < 4 || name[0] != 'd' || name[3] != '_') continue;  // d01_swap
    EXPECT_TRUE(listed.contains(name)) << name;
  }
}

}  // namespace
}  // namespace dist::test
