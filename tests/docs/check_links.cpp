// check_links FOLDER: fails when a link between the HTML pages of a folder leads nowhere. The target docs
// runs it.
#include <cstdio>

#include "links.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("check_links FOLDER: the folder of HTML pages\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> pages;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[1])) {
    if (entry.path().extension() == ".html") pages.push_back(entry.path());
  }
  auto dead = docs::dead_links(pages);
  // Doxygen 1.9 links a section of public classes within a class even where all of them are private.
  std::erase_if(dead,
                [](const std::string& line) { return line.find("#nested-classes,") != std::string::npos; });
  for (const std::string& line : dead) std::fprintf(stderr, "%s\n", line.c_str());
  return dead.empty() && !pages.empty() ? 0 : 1;
}
