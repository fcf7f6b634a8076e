// Links between pages, Markdown or HTML, and whether they lead somewhere.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace docs {

// Targets of links within the pages; those of other hosts are left out. Markdown's code is not a link.
std::vector<std::string> markdown_links(const std::string& page);
std::vector<std::string> html_links(const std::string& page);

// What may follow a #: names given in <a name="..."> or id="...", and a Markdown page's headings, as
// GitHub writes them: "## What it costs" is what-it-costs.
std::set<std::string> markdown_anchors(const std::string& page);
std::set<std::string> html_anchors(const std::string& page);

// A line for each link of these pages (.md or .html) that leads to no file, or to no place in its page.
std::vector<std::string> dead_links(const std::vector<std::filesystem::path>& pages);

}  // namespace docs
