#include "distlab/labs.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include "dist/core/fail.h"

#include "distlab/suggest.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// "4" or "04" -> 4; returns nothing for anything else.
std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// "01_name" -> 1; returns nothing for other folders.
std::optional<int> number_of(std::string_view folder) {
  const auto line = folder.find('_');
  return line == folder.npos ? std::nullopt : whole_number(folder.substr(0, line));
}

// "labs/06_scatter_gather/", as a shell completes it -> "06_scatter_gather"
std::string last_folder(const std::string& path) { return fs::path(path + "/").parent_path().filename(); }

std::string first_heading(const fs::path& page) {
  std::ifstream file(page);
  std::string line;
  std::getline(file, line);
  return line.starts_with("# ") ? line.substr(2) : line;
}

fs::path folder_of(const Lab& lab) { return workspace().root / "labs" / lab.folder; }

// "01_init_process_group" -> "init_process_group"
std::string name_of(const Lab& lab) { return lab.folder.substr(lab.folder.find('_') + 1); }

}  // namespace

std::vector<Lab> find_labs() {
  std::vector<Lab> labs;
  for (const auto& entry : fs::directory_iterator(workspace().root / "labs")) {
    const auto folder = entry.path().filename().string();
    if (const auto number = number_of(folder))
      labs.push_back({*number, folder, first_heading(entry.path() / "README.md")});
  }
  std::ranges::sort(labs, {}, &Lab::number);
  return labs;
}

Lab find_lab(const std::string& asked) {
  const auto number = whole_number(asked);
  const std::string folder = last_folder(asked);
  if (asked == "all" || asked == "begun")
    dist::fail(dist::Errc::invalid_argument, "\"{}\" is only for ./distlab grade; name one lab", asked);
  const auto labs = find_labs();
  std::vector<Lab> begin_so;
  for (const auto& lab : labs) {
    const bool by_number = number && lab.number == *number;
    const bool by_name = !number && !asked.empty() && name_of(lab).starts_with(asked);
    const bool by_folder = folder.find('_') != folder.npos && lab.folder.starts_with(folder);
    if (by_number || by_folder || (by_name && name_of(lab) == asked)) return lab;
    if (by_name) begin_so.push_back(lab);
  }
  if (begin_so.size() == 1) return begin_so.front();
  if (begin_so.size() > 1)
    dist::fail(dist::Errc::invalid_argument, "\"{}\" may be {} or {}; give more of its name, or its number",
               asked, begin_so[0].folder, begin_so[1].folder);
  std::vector<std::string> names;
  for (const auto& lab : labs) {
    names.push_back(name_of(lab));
    names.push_back(name_of(lab).substr(0, name_of(lab).find('_')));  // is understood, too
  }
  const std::string meant = number ? "" : closest(asked, names);
  dist::fail(dist::Errc::invalid_argument, "there is no lab \"{}\"; {}", asked,
             meant.empty() ? "./distlab list shows all labs, with their numbers"
                           : fmt::format("did you mean \"{}\"?", meant));
}

std::optional<Lab> asked_lab(const std::string& asked) {
  try {
    return find_lab(asked);
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::invalid_argument) throw;
    std::fputs(fmt::format("distlab: {}\n", error.what()).c_str(), stderr);
    return std::nullopt;
  }
}

bool has_solution(const Lab& lab) { return fs::exists(workspace().root / "solutions" / lab.folder); }

fs::path handout(const Lab& lab) { return folder_of(lab) / "README.md"; }

fs::path hint_page(const Lab& lab, int level, bool chinese) {
  return folder_of(lab) / "hints" / fmt::format("{}{}.md", level, chinese ? ".zh-CN" : "");
}

fs::path edited_file(const Lab& lab) { return folder_of(lab) / (name_of(lab) + ".cpp"); }

fs::path lab_program(const Lab& lab, const std::string& what) {
  const auto name = fmt::format("lab_{:02}_{}", lab.number, what);
  auto path = workspace().build / "bin" / name;
  if (!fs::exists(path)) {
    dist::fail(dist::Errc::unsupported,
               "{} is not built; start the command with ./distlab, which builds it, or: cmake --build {} "
               "--target {}",
               name, workspace().build.string(), name);
  }
  return path;
}

}  // namespace distlab
