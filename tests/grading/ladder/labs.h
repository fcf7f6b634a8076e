// The labs of this checkout, in the order in which one climbs them, and the glossary.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ladder {

struct Lab {
  std::string folder;                                    // "05_broadcast"
  std::filesystem::path path;                            // labs/05_broadcast
  std::string handout;                                   // README.md
  std::string name() const { return folder.substr(3); }  // "broadcast"
};

std::filesystem::path root();
std::string text_of(const std::filesystem::path& file);  // fails the test when there is none
std::vector<Lab> labs();
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);  // in the order of names

struct Term {
  std::string id;                  // "double-binary-tree"
  std::vector<std::string> forms;  // "double tree", "double binary tree"
};
// The entries of a glossary page: - <a name="id"></a>**form**, **form**: ...
std::vector<Term> terms_of(const std::string& page);

// The ids of a page's links to the glossary, in the order of names; without the "zh-" of the Chinese ones.
std::vector<std::string> glossary_links(const std::string& page);

}  // namespace ladder
