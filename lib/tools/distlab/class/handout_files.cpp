#include "distlab/class/handout_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

#include "distlab/checkout_files.h"
#include "distlab/file_text.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// Whole folders, and single files.
constexpr std::array handed_out{
    ".clang-format", ".clang-tidy", ".devcontainer", ".editorconfig", ".gitattributes", ".gitignore",
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "distlab", "labs", "lib", "tests/CMakeLists.txt",
    "tests/README.md", "tests/golden", "tests/gpu", "tests/integration", "tests/support", "tests/unit",
    // of the grader:
    "tests/grading/CMakeLists.txt", "tests/grading/check_translation.cmake", "tests/grading/ladder",
    "tests/grading/proved.sha256", "tests/grading/starter_test.sh", "tests/grading/starters.sha256",
    "tests/grading/student_library_test.sh", "tests/grading/tier.cmake", "tests/grading/verdict.cpp",
    "tests/judge/CMakeLists.txt", "tests/judge/fuzz", "tests/judge/topologies"};

bool begins_with(const fs::path& file, const fs::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

bool is_source(const fs::path& file) { return file.extension() == ".cpp" || file.extension() == ".h"; }

// Directly in the folder of the grader, or of a lab's grading.
bool is_source_of_grading(const fs::path& file) {
  const auto folder = file.parent_path();
  return is_source(file) && (folder == "tests/judge" || folder.parent_path() == "tests/grading");
}

bool has_wrong_answers(const fs::path& file) { return file.filename() == "wrong_answers.cpp"; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Calls see(word) for each word of letters, digits and underscores.
template <class See>
void for_each_word(std::string_view text, See see) {
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    for (end = begin; end < text.size() && is_word(text[end]);) ++end;
    if (end > begin) see(std::string(text.substr(begin, end - begin)));
  }
}

}  // namespace

bool is_for_students(const fs::path& file) {
  if (is_source_of_grading(file)) return !has_wrong_answers(file);
  return std::ranges::any_of(handed_out, [&](const fs::path& place) { return begins_with(file, place); });
}

bool is_secret(const fs::path& file) {
  const auto extension = file.extension();
  if (begins_with(file, "solutions")) return extension == ".cpp" || extension == ".md";
  return has_wrong_answers(file);
}

std::set<std::string> secret_names() {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (name.find('_') != name.npos) names.insert(name);
  };
  for (const auto& file : checkout_files()) {
    if (begins_with(file, "tests/cheats") && file.extension() == ".cpp") add(file.stem());
    if (!has_wrong_answers(file)) continue;
    std::istringstream lines(text_of_file(workspace().root / file));
    constexpr std::string_view before = "//// ";  // begins a block, with its name
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(before)) add(line.substr(before.size()));
  }
  return names;
}

std::string named_in(const fs::path& tree, const fs::path& file, const std::set<std::string>& names) {
  std::string found;
  const auto see = [&](const std::string& word) {
    if (found.empty() && names.contains(word)) found = word;
  };
  if (!is_source_of_grading(file)) for_each_word(file.stem().string(), see);
  if (!is_source(file)) for_each_word(text_of_file(tree / file), see);
  return found;
}

std::string handout_readme() {
  return R"(# distlab: the labs of your course

A teaching lab for distributed training. Each lab in [labs](labs/README.md) is a folder with a handout to read and one
file to edit. On Debian 12, Ubuntu 24.04 or newer:

```sh
./distlab start 0   # what to read and which file to edit; the first command builds what it needs, in 4 to 10 minutes
./distlab run 0     # what your code does; --solution: what it should do
./distlab grade 0   # is it right, and if not, why?
./distlab hint 0    # a hint about what the last grade found; repeat it for a bigger one
./distlab submit 0  # a zip of your file to hand in
```

This tree has no solutions: where a handout speaks of `solutions/`, ask your instructor. `./distlab --help` lists all
commands, and the [handbook](labs/handbook/README.md) explains what the checker finds.

中文：每个实验都有中文讲义 `README.zh-CN.md`，从 [labs/README.zh-CN.md](labs/README.zh-CN.md) 开始。本目录不含参考答案，请询问授课教师。
)";
}

}  // namespace distlab
