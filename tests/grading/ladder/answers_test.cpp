// Nothing that a student is given to read leads to the answers: `./distlab solution N` shows them when it is
// time.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "labs.h"
#include "text.h"

namespace ladder {
namespace {

// A wrong answer's name is one word such as keeps_old_weights; names of one plain word may come up by chance.
std::vector<std::string> wrong_answers(const Lab& lab) {
  std::vector<std::string> names;
  const auto file = root() / "tests/grading" / lab.folder / "wrong_answers.cpp";
  if (!std::filesystem::exists(file)) return names;  // a tree for students has none
  std::istringstream lines(text_of(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//// ") && line.find('_') != line.npos)
      names.push_back(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_GT(names.size(), 5u) << file;
  return names;
}

TEST(Answers, NoLabPointsAtThem) {
  for (const Lab& lab : labs()) {
    std::vector<std::string> forbidden{"solutions/", "NOTES.md", "TEACHING.md", "wrong_answers"};
    for (std::string& name : wrong_answers(lab)) forbidden.push_back(std::move(name));
    for (const auto& file : files_below(lab.path)) {
      const std::string text = text_of(file);
      for (const std::string& word : forbidden)
        EXPECT_EQ(text.find(word), std::string::npos)
            << std::filesystem::relative(file, root()) << " names " << word;
    }
  }
}

}  // namespace
}  // namespace ladder
