#include "distlab/accounting/tries.h"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/core/whole_file.h"

#include "distlab/file_text.h"
#include "distlab/workspace.h"

namespace distlab {
namespace {
std::filesystem::path answers_file() { return workspace().root / ".distlab" / "answers"; }
}  // namespace

Answers read_answers() {
  Answers answers;
  std::istringstream lines(text_of_file(answers_file()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string lab, is_answered;
    int question = 0;
    Tries tries;
    if (words >> lab >> question >> tries.wrong >> is_answered) {
      tries.is_answered = is_answered == "yes";
      answers[{lab, question}] = tries;
    }
  }
  return answers;
}

void write_answers(const Answers& answers) {
  std::string text = "# lab question wrong_tries answered\n";
  for (const auto& [at, tries] : answers)
    text += fmt::format("{} {} {} {}\n", at.first, at.second, tries.wrong, tries.is_answered ? "yes" : "no");
  try {
    std::filesystem::create_directories(answers_file().parent_path());
    dist::write_whole_file(answers_file(), text);
  } catch (const std::exception& error) {
    fmt::print(stderr, "your answer is not noted: {}\n", error.what());
  }
}

int answered_of(const Answers& answers, const std::string& lab) {
  int count = 0;
  for (const auto& [at, tries] : answers) count += at.first == lab && tries.is_answered;
  return count;
}

}  // namespace distlab
