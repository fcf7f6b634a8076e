#include "links.h"

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

namespace docs {
namespace {

namespace fs = std::filesystem;
constexpr auto npos = std::string::npos;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The page without anything between fences or backticks.
std::string prose(const std::string& page) {
  std::istringstream in(page);
  std::string all;
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    const bool fence = line.starts_with("```");
    if (!fenced && !fence) all += line;
    all += '\n';
    fenced = fenced != fence;
  }
  for (std::size_t begin = all.find('`'); begin != npos; begin = all.find('`', begin)) {
    const std::size_t end = all.find('`', begin + 1);
    if (end == npos) break;
    all.erase(begin, end + 1 - begin);
  }
  return all;
}

bool leads_away(std::string_view target) {
  const std::size_t colon = target.find(':');  // https:, mailto:, javascript:, data:
  return target.empty() || (colon != npos && colon < target.find_first_of("/#?"));
}

// What is between each `begin` and the next `end`.
std::vector<std::string> between(const std::string& text, std::string_view begin, char end) {
  std::vector<std::string> all;
  for (std::size_t at = text.find(begin); at != npos; at = text.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    all.push_back(text.substr(from, text.find(end, from) - from));
  }
  return all;
}

void append_links(std::vector<std::string>& links, const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    const std::string link = target.substr(0, target.find(' '));  // [a](b "title")
    if (!leads_away(link)) links.push_back(link);
  }
}

std::string slug(std::string_view heading) {
  std::string all;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') all += '-';
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || byte >= 0x80)
      all += static_cast<char>(std::tolower(byte));
  }
  return all;
}

bool is_html(const fs::path& page) { return page.extension() == ".html"; }

}  // namespace

std::vector<std::string> markdown_links(const std::string& page) {
  std::vector<std::string> links;
  append_links(links, between(prose(page), "](", ')'));
  return links;
}

std::vector<std::string> html_links(const std::string& page) {
  std::vector<std::string> links;
  append_links(links, between(page, " href=\"", '"'));
  append_links(links, between(page, " src=\"", '"'));
  return links;
}

std::set<std::string> markdown_anchors(const std::string& page) {
  std::set<std::string> all;
  for (std::string& name : between(page, "<a name=\"", '"')) all.insert(std::move(name));
  std::istringstream in(prose(page));
  for (std::string line; std::getline(in, line);) {
    const std::size_t text = line.find_first_not_of('#');
    if (text != 0 && text != npos && line[text] == ' ') all.insert(slug(line.substr(text + 1)));
  }
  return all;
}

std::set<std::string> html_anchors(const std::string& page) {
  std::set<std::string> all;
  for (const char* attribute : {" id=\"", " name=\""}) {
    for (std::string& name : between(page, attribute, '"')) all.insert(std::move(name));
  }
  return all;
}

std::vector<std::string> dead_links(const std::vector<fs::path>& pages) {
  std::vector<std::string> dead;
  std::map<fs::path, std::set<std::string>> anchors;  // of the pages that links with a # lead to
  for (const fs::path& page : pages) {
    const std::string text = text_of(page);
    for (const std::string& link : is_html(page) ? html_links(text) : markdown_links(text)) {
      const std::size_t hash = link.find('#');
      const std::string file = link.substr(0, link.find_first_of("#?"));
      const fs::path target = file.empty() ? page : (page.parent_path() / file).lexically_normal();
      bool leads_somewhere = fs::exists(target);
      if (leads_somewhere && hash != npos && hash + 1 < link.size() && fs::is_regular_file(target)) {
        auto known = anchors.find(target);
        if (known == anchors.end()) {
          const std::string other = text_of(target);
          known =
              anchors.emplace(target, is_html(target) ? html_anchors(other) : markdown_anchors(other)).first;
        }
        leads_somewhere = known->second.contains(link.substr(hash + 1));
      }
      if (!leads_somewhere) dead.push_back(page.string() + " leads to " + link + ", which is not there");
    }
  }
  return dead;
}

}  // namespace docs
