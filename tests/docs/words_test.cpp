// No text, string or comment uses a phrase of WORDS.md, unless its table of exceptions says why.
#include "words.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace docs {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<int>;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Data, what a tool wrote, and the table itself.
bool is_read(const fs::path& path) {
  static const std::set<std::string> kinds{".md",    ".cpp", ".h",   ".cu",  ".cuh", ".in",
                                           ".inc",   ".ts",  ".mjs", ".js",  ".css", ".sh",
                                           ".cmake", ".py",  ".yml", ".sed", ".svg", ""};
  static const std::set<std::string> left_out{"WORDS.md", "words_test.cpp"};
  return (kinds.contains(path.extension().string()) || path.filename() == "CMakeLists.txt") &&
         !left_out.contains(path.filename().string());
}

std::vector<fs::path> texts() {
  const fs::path root = PROJECT_FOLDER;
  std::vector<fs::path> all{root / "README.md", root / "CMakeLists.txt", root / "distlab"};
  for (const char* folder :
       {"labs", "lib", "slides", "solutions", "tests", ".ci", ".github", ".devcontainer"}) {
    fs::recursive_directory_iterator entries(root / folder);
    for (const auto& entry : entries) {
      if (entry.is_directory() && entry.path().filename() == "node_modules")
        entries.disable_recursion_pending();
      if (entry.is_regular_file() && is_read(entry.path())) all.push_back(entry.path());
    }
  }
  return all;
}

TEST(Words, NoTextUsesAPhraseThatAReaderStumblesOn) {
  const std::string page = contents(PROJECT_FOLDER "/tests/docs/WORDS.md");
  const std::vector<Pardon> pardons = pardons_of(page);
  EXPECT_GT(phrases_of(page).size(), 50u);
  const PhraseFinder finder(phrases_of(page));
  std::set<std::pair<std::string, std::string>> unused, pardoned;
  for (const Pardon& pardon : pardons) {
    if (fs::exists(fs::path(PROJECT_FOLDER) / pardon.file)) unused.emplace(pardon.file, pardon.phrase);
    pardoned.emplace(pardon.file, pardon.phrase);
    EXPECT_FALSE(pardon.reason.empty()) << pardon.file << ": why may it say \"" << pardon.phrase << "\"?";
  }
  for (const fs::path& text : texts()) {
    const std::string name = fs::relative(text, PROJECT_FOLDER).string();
    for (const Hit& hit : finder.hits(text, contents(text))) {
      unused.erase({name, hit.phrase});
      if (!pardoned.contains({name, hit.phrase}))
        ADD_FAILURE() << name << ":" << hit.line << ": \"" << hit.phrase
                      << "\"; write instead: " << hit.instead;
    }
  }
  for (const auto& [file, phrase] : unused)
    ADD_FAILURE() << "WORDS.md: " << file << " no longer says \"" << phrase << "\": strike the exception";
}

Lines lines_with(const std::string& name, const std::string& content, const Phrase& phrase) {
  Lines lines;
  for (const Hit& hit : PhraseFinder({phrase}).hits(name, content)) lines.push_back(hit.line);
  return lines;
}

TEST(Words, APhraseMayReachOverTheEndOfALine) {
  const Phrase forever{"for ever", "forever", {}};
  EXPECT_EQ(lines_with("a.md", "It waits for\never.", forever), Lines{1});
  EXPECT_EQ(lines_with("a.cpp", "int x;\n// It waits for\n// Ever.\n", forever), Lines{2});
  EXPECT_EQ(lines_with("a.sh", "# It waits for\n# ever\n", forever), Lines{1});
  EXPECT_EQ(lines_with("a.cpp", "say(\"waits for \"\n    \"ever\");", forever), Lines{1});
  EXPECT_EQ(lines_with("a.md", "It waits for. Ever\n\nfor\n\never", forever), Lines{});
}

TEST(Words, OfASourceOnlyCommentsAndStringsAreRead) {
  const Phrase nobody{"nobody", "no rank", {}};
  EXPECT_EQ(lines_with("a.cpp", "int nobody = 1'000;\nf(nobody);  // nobody\n/* a\n * nobody */", nobody),
            (Lines{2, 4}));
  EXPECT_EQ(lines_with("a.cpp", "f('\"', nobody, \"no\\\"body, nobody\");", nobody), Lines{1});
  EXPECT_EQ(lines_with("a.cpp", "f(R\"x(a\nnobody)\")x\", nobody);", nobody), Lines{2});
  EXPECT_EQ(lines_with("a.ts", "f(`a ${b}\nnobody`, nobody, 'Nobody')", nobody), (Lines{2, 2}));
  EXPECT_EQ(lines_with("a.py", "nobody = 1", nobody), Lines{1});
}

TEST(Words, AnExceptionIsALongerPhraseThatContainsIt) {
  const Phrase is_no{"is/are no", "is not a", {"there is/are no", "is/are no longer"}};
  EXPECT_EQ(lines_with("a.md", "There is no rank 5. It is no\nlonger here. They are no `f64`.", is_no),
            Lines{2});
}

TEST(Words, ASentenceThatBeginsWithAWordMayAsk) {
  const Phrase who{"^ who", "name the rank", {"?"}};
  EXPECT_EQ(lines_with("a.md", "Who waits?\nWho waits is late. A rank who waits.\n- Who sums, divides.", who),
            (Lines{2, 3}));
}

TEST(Words, ChineseIsFoundAnywhere) {
  EXPECT_EQ(lines_with("a.md", "第一行\n程序挂住了。", {"挂住", "卡死", {}}), Lines{2});
}

TEST(Words, TheTableIsRead) {
  const std::string page =
      "# T\n\n## English\n\n| a | b | c |\n|---|---|---|\n| x y, z | w | x y q, ? |\n\n## Chinese\n";
  const auto phrases = phrases_of(page);
  ASSERT_EQ(phrases.size(), 2u);
  EXPECT_EQ(phrases[1].phrase, "z");
  EXPECT_EQ(phrases[1].instead, "w");
  EXPECT_EQ(phrases[1].exceptions, (std::vector<std::string>{"x y q", "?"}));
}

}  // namespace
}  // namespace docs
