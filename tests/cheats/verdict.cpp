// A test of the tests: hands in a cheat, which must get no points, for the reason that its file names, and
// leave no process behind.
//   cheat_verdict FILE     of lab 07, or of the one that "// Lab: " names; a file without "// Whole:" is
//   completed by
//                          frame.txt
// Exit status 77: there is no sandbox here, and a cheat does nothing outside of one.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "distlab/file_text.h"
#include "distlab/grading.h"
#include "distlab/submission.h"
#include "distlab/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int skipped = 77;

// The rest of the line that begins with `start`; empty when there is none.
std::string label(const std::string& text, const std::string& start) {
  const auto at = text.find(start);
  if (at == text.npos) return "";
  const auto begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

// The name of the processes that a cheat starts: it differs from run to run, as several runs may go on at the
// same time.
std::string process_name() { return fmt::format("cheat-{}", ::getpid()); }

// Cheats call their processes "distlab-cheat".
std::string with_names(std::string text) {
  const std::string placeholder = "distlab-cheat";
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != text.npos;) {
    text.replace(at, placeholder.size(), process_name());
  }
  return text;
}

distlab::GradeRecord grade(const fs::path& cheat, const fs::path& folder) {
  const std::string text = with_names(distlab::text_of_file(cheat));
  const std::string number = label(text, "// Lab: ");
  const auto lab = distlab::find_lab(number.empty() ? "7" : number);
  distlab::GradeRecord record;
  const auto file = folder / distlab::edited_file(lab).filename();
  const bool is_whole = text.find("// Whole:") != text.npos;
  std::ofstream(file) << text << (is_whole ? "" : distlab::text_of_file(cheat.parent_path() / "frame.txt"));
  distlab::grade_submission(lab, file, {}, record);
  return record;
}

// Others come and go meanwhile: one that has ended has no name.
bool is_there() {
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name == process_name()) return true;
  }
  return false;
}

// The kernel takes its time to end what was in a sandbox.
bool is_left_behind() {
  constexpr auto grace = std::chrono::seconds(3);
  const auto until = std::chrono::steady_clock::now() + grace;
  while (is_there()) {
    if (std::chrono::steady_clock::now() > until) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string all_said(const distlab::GradeRecord& record) {
  const auto& grade = *record.grade;
  std::string said = record.reason + "\n";
  for (const auto& test : grade.tests) {
    for (const auto& message : test.messages)
      said += fmt::format("{} {}: {}\n", test.points, test.name, message);
    if (test.points > 0) said += fmt::format("{} points for {}\n", test.points, test.name);
  }
  return said;
}

void expect_caught(const distlab::GradeRecord& record, const std::string& told) {
  const auto& grade = *record.grade;
  const std::string said = all_said(record);
  fmt::print("score {}, {}\n{}\n", grade.score, grade.isolation, said);
  if (grade.score != 0) throw std::runtime_error("a cheat gets no points");
  if (told.empty() || said.find(told) == said.npos)
    throw std::runtime_error(fmt::format("no output says \"{}\"", told));
  for (int waits = 0; waits < 20 && is_left_behind(); ++waits) std::this_thread::sleep_for(100ms);  // dying
  if (is_left_behind()) throw std::runtime_error("a process was left behind");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FILE\n", argv[0]);
    return 2;
  }
  try {
    const distlab::TemporaryFolder folder("cheat");
    const auto record = grade(argv[1], folder.path());
    if (!record.grade->tests.empty() && record.grade->isolation == "limits") {
      fmt::print("skipped: there is no sandbox here, and the cheat would not run outside of one\n");
      return skipped;
    }
    expect_caught(record, label(distlab::text_of_file(argv[1]), "// Told: "));
    return 0;
  } catch (const std::exception& error) {
    fmt::print("UNEXPECTED: {}\n", error.what());
    return 1;
  }
}
