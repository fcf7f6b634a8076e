// Every link between this repository's pages leads somewhere.
#include "links.h"

#include <fstream>

#include <gtest/gtest.h>

namespace docs {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

// Pages of this checkout; folders that are not the project's own are passed by.
std::vector<fs::path> pages() {
  std::vector<fs::path> all;
  for (auto entry = fs::recursive_directory_iterator(PROJECT_FOLDER);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename();
    const bool foreign = name == "build" || name == "node_modules" || name == "distlab_handout" ||
                         name.starts_with("class_lab_");
    if (entry->is_directory() && (foreign || (name.starts_with('.') && name != ".github")))
      entry.disable_recursion_pending();
    if (entry->is_regular_file() && entry->path().extension() == ".md") all.push_back(entry->path());
  }
  return all;
}

TEST(Links, OfAllPagesLeadSomewhere) {
  EXPECT_GT(pages().size(), 20u);
  EXPECT_EQ(dead_links(pages()), Strings());
}

TEST(Links, AreFoundInMarkdown) {
  EXPECT_EQ(markdown_links(
                "[a](b.md) `[c](d.md)` ![e](f.svg \"g\") [h](https://i.j) [k](#l)\n```\n[m](n.md)\n```\n"),
            (Strings{"b.md", "f.svg", "#l"}));
  EXPECT_EQ(markdown_anchors("# What it costs, and why\n- <a name=\"rank\"></a>**rank**\n#no heading\n"),
            (std::set<std::string>{"rank", "what-it-costs-and-why"}));
}

TEST(Links, AreFoundInHtml) {
  const std::string page =
      R"(<a href="b.html#c">x</a> <img src="d.svg"/> <a href="https://e.f">y</a> <p id="g"><a name="h">)";
  EXPECT_EQ(html_links(page), (Strings{"b.html#c", "d.svg"}));
  EXPECT_EQ(html_anchors(page), (std::set<std::string>{"g", "h"}));
}

TEST(Links, DeadOnesAreNamed) {
  const fs::path page = fs::path(testing::TempDir()) / "links_test_page.md";
  std::ofstream(page) << "# Here\n[a](#here) [b](#there) [c](links_test_page.md#here) [d](no_such_page.md)\n";
  const Strings dead = dead_links({page});
  ASSERT_EQ(dead.size(), 2u);
  EXPECT_NE(dead[0].find("leads to #there"), std::string::npos) << dead[0];
  EXPECT_NE(dead[1].find("leads to no_such_page.md"), std::string::npos) << dead[1];
  fs::remove(page);
}

}  // namespace
}  // namespace docs
