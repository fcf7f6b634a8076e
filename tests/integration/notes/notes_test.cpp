// Runs every program of this folder and compares what its processes printed with <name>.txt. Lines are
// compared sorted: which process is faster is not specified.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace {

std::string sorted_lines(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

struct Ended {
  std::string output;
  int status = 0;
};

Ended run(const std::string& command) {
  Ended ended;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {"", -1};
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;)
    ended.output.append(piece, got);
  ended.status = ::pclose(pipe);
  return ended;
}

using Program = std::tuple<std::string, std::string>;  // name, transport
class Notes : public testing::TestWithParam<Program> {};

TEST_P(Notes, prints_what_the_notes_say) {
  const auto& [name, transport] = GetParam();
  const auto ended = run(fmt::format("DIST_TRANSPORT={} {}/notes_{} 2>&1", transport, NOTES_PROGRAMS, name));
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) << ended.output;
  std::ifstream expected(fmt::format("{}/{}.txt", NOTES_FOLDER, name));
  ASSERT_TRUE(expected) << "no expectations for " << name;
  std::istringstream printed(ended.output);
  EXPECT_EQ(sorted_lines(printed), sorted_lines(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Notes,
    testing::Combine(testing::Values("init_process_group", "new_group", "send_recv", "isend_irecv",
                                     "all_gather_all_reduce", "softmax", "broadcast", "scatter"),
                     testing::Values("shm", "tcp")),
    [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

}  // namespace
