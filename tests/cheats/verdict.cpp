// A test of the tests: hands in a cheat, which must get no points, for the reason that its file names, and
// leave no process behind.
//   cheat_verdict JUDGE FILE     of lab 07; a file without "// Whole:" is completed by frame.txt
// Exit status 77: there is no sandbox here, and some cheats do real harm outside of one.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "distlab/grading.h"
#include "distlab/submission.h"
#include "distlab/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

constexpr int skipped = 77;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The rest of the line that begins with `start`; empty when there is none.
std::string label(const std::string& text, const std::string& start) {
  const auto at = text.find(start);
  if (at == text.npos) return "";
  const auto begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

distlab::Grade grade(const fs::path& judge, const fs::path& cheat, const fs::path& folder) {
  const std::string text = contents(cheat);
  const auto lab = distlab::find_lab("7");
  const auto file = folder / distlab::edited_file(lab).filename();
  const bool is_whole = text.find("// Whole:") != text.npos;
  std::ofstream(file) << text << (is_whole ? "" : contents(cheat.parent_path() / "frame.txt"));
  const auto built = distlab::build_submission(lab, file, folder);
  if (!built.refused.empty()) return distlab::refused_grade(built.refused);
  if (built.isolation == "limits") std::exit((fmt::print("skipped: there is no sandbox here\n"), skipped));
  return distlab::run_grading({.program = judge, .runner = built.runner, .seed = {}});
}

// Of those that name themselves as cheats do.
bool is_left_behind() {
  for (const auto& process : fs::directory_iterator("/proc")) {
    if (contents(process.path() / "comm") == "distlab-cheat\n") return true;
  }
  return false;
}

std::string all_said(const distlab::Grade& grade) {
  std::string said = grade.refused + "\n";
  for (const auto& test : grade.tests) {
    for (const auto& message : test.messages)
      said += fmt::format("{} {}: {}\n", test.points, test.name, message);
    if (test.points > 0) said += fmt::format("{} points for {}\n", test.points, test.name);
  }
  return said;
}

void expect_caught(const distlab::Grade& grade, const std::string& told) {
  const std::string said = all_said(grade);
  fmt::print("score {}, {}\n{}\n", grade.score, grade.isolation, said);
  if (grade.score != 0) throw std::runtime_error("a cheat gets no points");
  if (told.empty() || said.find(told) == said.npos)
    throw std::runtime_error(fmt::format("nobody was told \"{}\"", told));
  if (is_left_behind()) throw std::runtime_error("a process was left behind");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} JUDGE FILE\n", argv[0]);
    return 2;
  }
  try {
    const distlab::TemporaryFolder folder;
    expect_caught(grade(argv[1], argv[2], folder.path()), label(contents(argv[2]), "// Told: "));
    return 0;
  } catch (const std::exception& error) {
    fmt::print("UNEXPECTED: {}\n", error.what());
    return 1;
  }
}
