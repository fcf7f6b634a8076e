#include "distlab/loop/build_errors.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/loop/diagnostics.h"
#include "distlab/results/text.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab::loop {
namespace fs = std::filesystem;
namespace {

// Returns a short path: relative to the root of the checkout if the file is in it, else only its name.
std::string shown_file(const std::string& file, const Sources& sources) {
  const std::string path = fs::path(file).lexically_normal();
  for (const auto& edited : sources.edited_files) {
    if (path == edited || path.ends_with("/" + edited)) return edited;  // even if the checkout was moved
  }
  if (path.starts_with(sources.root + "/")) return path.substr(sources.root.size() + 1);
  return fs::path(path).filename();
}

bool is_edited(const std::string& shown, const Sources& sources) {
  return std::ranges::find(sources.edited_files, shown) != sources.edited_files.end();
}

std::string shown_place(const std::string& file, const Place& place) {
  return place.column > 0 ? fmt::format("{}:{}:{}", file, place.line, place.column)
                          : fmt::format("{}:{}", file, place.line);
}

// Messages with types of templates, and lines of generated code, are too long to be read to the end.
std::string shortened(std::string text, std::size_t enough = 300) {
  if (text.size() <= enough) return text;
  auto cut = enough;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not within a character
  return text.substr(0, cut) + " ...";
}

constexpr std::size_t longest_line = 500;  // that is shown, in bytes

std::string source_line(const Sources& sources, const std::string& file, int number) {
  std::istringstream text(sources.text_of(file));
  std::string line;
  for (int i = 0; i < number; ++i) {
    if (!std::getline(text, line)) return "";
  }
  return line;
}

// One error, with its place in the edited file if possible.
struct Shown {
  bool edited = false;
  bool inside = false;  // whether the error is in a template that this place uses
  std::string file;
  Place place;
  std::vector<std::string> lines;
};

// g++ draws "   17 |   if (x)"; clang++ leaves the number out, so we add it.
std::vector<std::string> excerpt_lines(const Diagnostic& diagnostic) {
  constexpr std::size_t enough = 3;     // the line, the caret, what it suggests
  constexpr std::size_t longest = 160;  // bytes
  std::vector<std::string> lines;
  if (!diagnostic.excerpt.empty() && diagnostic.excerpt[0].find_first_not_of(" ^~") == std::string::npos)
    return {};  // an error at the end of the file has no line
  const bool numbered = !diagnostic.excerpt.empty() && diagnostic.excerpt[0].find(" | ") < 10;
  for (const auto& line : diagnostic.excerpt) {
    if (lines.size() == enough) break;
    if (numbered)
      lines.push_back(shortened(line, longest));
    else if (lines.empty())
      lines.push_back(fmt::format("{:5} | {}", diagnostic.place.line, shortened(line, longest)));
    else
      lines.push_back(fmt::format("{:5} | {}", "", shortened(line, longest)));
  }
  return lines;
}

// Returns the note about a declaration or an opening brace elsewhere in this checkout, which often explains
// the error.
std::string helpful_note(const Diagnostic& diagnostic, const Sources& sources) {
  for (const auto& note : diagnostic.notes) {
    const bool helps = note.message.ends_with("declared here") || note.message.starts_with("to match this") ||
                       note.message.starts_with("old declaration") ||
                       note.message == "previous declaration is here";
    const auto file = shown_file(note.place.file, sources);
    if (!helps || file.find('/') == file.npos || note.excerpt.empty()) continue;
    auto line = note.excerpt.front();
    if (const auto bar = line.find(" | "); bar < 10) line.erase(0, bar + 3);
    line.erase(0, line.find_first_not_of(' '));
    return fmt::format("  {}: {}: {}", shown_place(file, {"", note.place.line, 0}), note.message, line);
  }
  return "";
}

// Returns what to do about an error whose words are about the language rather than about the program.
std::string advice(const Diagnostic& diagnostic) {
  if (diagnostic.message.starts_with("cannot bind non-const lvalue reference"))
    return "  this call writes to its argument: store the value in a variable first, and pass the variable";
  return "";
}

Shown describe(const Diagnostic& diagnostic, const Sources& sources) {
  Shown shown;
  shown.file = shown_file(diagnostic.place.file, sources);
  shown.place = diagnostic.place;
  shown.edited = is_edited(shown.file, sources);
  const char* word = diagnostic.severity == Severity::error ? "error" : "warning";
  const std::string written_there = shown_place(shown.file, diagnostic.place);
  if (!shown.edited) {
    const auto ours = std::ranges::find_if(diagnostic.required_from, [&](const Place& place) {
      return is_edited(shown_file(place.file, sources), sources);
    });
    if (ours != diagnostic.required_from.end()) {
      shown.edited = shown.inside = true;
      shown.place = *ours;
      shown.file = shown_file(ours->file, sources);
    }
  }
  shown.lines.push_back(
      fmt::format("{}: {}: {}", shown_place(shown.file, shown.place), word, shortened(diagnostic.message)));
  if (shown.inside) {
    shown.lines.push_back(
        fmt::format("{:5} | {}", shown.place.line, source_line(sources, shown.file, shown.place.line)));
    shown.lines.push_back(fmt::format("  (the error itself is in {}, which this line uses)", written_there));
    return shown;
  }
  for (auto& line : excerpt_lines(diagnostic)) shown.lines.push_back(std::move(line));
  if (auto note = helpful_note(diagnostic, sources); !note.empty()) shown.lines.push_back(std::move(note));
  if (auto told = advice(diagnostic); !told.empty()) shown.lines.push_back(std::move(told));
  return shown;
}

// Returns each error once. Repeated messages, and errors in templates that the same line uses, have one
// cause.
std::vector<Shown> distinct(const std::vector<Diagnostic>& all, Severity severity, const Sources& sources) {
  std::vector<Shown> chosen;
  std::set<std::string> seen;
  for (const auto& diagnostic : all) {
    if (diagnostic.severity != severity) continue;
    auto shown = describe(diagnostic, sources);
    const std::string cause =
        shown.file + (shown.inside ? fmt::format(":{}", shown.place.line) : diagnostic.message);
    if (seen.insert(cause).second) chosen.push_back(std::move(shown));
  }
  std::stable_partition(chosen.begin(), chosen.end(), [](const Shown& shown) { return shown.edited; });
  return chosen;
}

// "lab::gather(int)" -> "gather"
std::string bare_name(const std::string& symbol) {
  const auto name = symbol.substr(0, symbol.find('('));
  const auto colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

bool declares(const std::string& text, const std::string& name) {
  return text.find(" " + name + "(") != text.npos;
}

// Returns the line of the edited file that looks like a definition of this function: "12: void f(int x)".
std::string similar_definition(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with(' ') || line.starts_with("//") || !declares(line, name)) continue;
    const auto brace = line.find(" {");
    return fmt::format("{}: {}", number, line.substr(0, brace));
  }
  return "";
}

std::vector<std::string> describe(const LinkError& error, const Sources& sources) {
  const auto name = bare_name(error.symbol);
  const auto full_name = error.symbol.substr(0, error.symbol.find('('));
  if (error.kind == LinkError::Kind::defined_twice)
    return {fmt::format("{} is defined twice; remove one of the definitions", error.symbol)};
  for (const auto& file : sources.edited_files) {
    if (!error.lab.empty() && !file.starts_with("labs/" + error.lab + "_")) continue;
    const auto header = fs::path(file).replace_extension(".h").string();
    if (!full_name.starts_with("lab::") || !declares(sources.text_of(header), name)) continue;
    std::vector<std::string> lines{
        fmt::format("{} is declared in {}, but your file does not define it with this signature:", full_name,
                    fs::path(header).filename().string()),
        "    " + error.symbol};
    if (const auto similar = similar_definition(sources.text_of(file), name); !similar.empty())
      lines.push_back(fmt::format("  yours is {}:{}", file, similar));
    return lines;
  }
  return {fmt::format("{} is declared and used, but not defined", error.symbol)};
}

// Returns the edited file in which the compiler has found zero bytes because it is UTF-16; empty: none. Each
// character of it is an error.
std::string file_in_utf16(std::string_view log, const Sources& sources) {
  for (const auto& file : sources.edited_files)
    if (log.find(file) != log.npos && is_utf16(sources.text_of(file))) return file;
  return "";
}

}  // namespace

Sources checkout_sources() {
  Sources sources;
  sources.root = workspace().root;
  for (const auto& lab : find_labs())
    sources.edited_files.push_back(fs::relative(edited_file(lab), workspace().root));
  sources.text_of = [](const std::string& file) { return text_of_file(workspace().root / file); };
  return sources;
}

Explanation explain_errors(std::string_view log, const Sources& sources, int most) {
  Explanation told;
  if (const auto file = file_in_utf16(log, sources); !file.empty()) {
    told.lines = {fmt::format("{}: error: the file is UTF-16; save it as UTF-8", file)};
    told.is_students = true;
    return told;
  }
  int shown = 0;
  const auto tell = [&](const std::vector<std::string>& lines) {
    if (shown++ < most)
      for (const auto& line : lines) told.lines.push_back(shortened(line, longest_line));
    else
      ++told.more;
  };
  for (const auto& error : distinct(parse_diagnostics(log), Severity::error, sources)) {
    tell(error.lines);
    told.is_students = told.is_students || error.edited;
  }
  for (const auto& error : parse_link_errors(log)) {
    tell(describe(error, sources));
    told.is_students = true;  // without edits, everything links
  }
  return told;
}

Explanation explain_warnings(std::string_view log, const Sources& sources, int most) {
  Explanation told;
  for (const auto& warning : distinct(parse_diagnostics(log), Severity::warning, sources)) {
    if (!warning.edited) continue;
    if (std::ssize(told.lines) < most)
      told.lines.push_back(warning.lines.front());
    else
      ++told.more;
  }
  return told;
}

Explanation explain_log_file(const std::string& log_file) {
  const std::string log = text_of_file(log_file);
  auto told = explain_errors(log, checkout_sources());
  if (!told.lines.empty()) return told;
  constexpr int enough = 40;
  told.lines = plain_lines(log);
  told.more = std::max(0, static_cast<int>(told.lines.size()) - enough);
  if (told.more > 0) told.lines.resize(enough);
  for (auto& line : told.lines) line = shortened(std::move(line), longest_line);
  return told;
}

void print_explanation(const Explanation& told, const std::string& log_file) {
  for (const auto& line : told.lines)
    fmt::print("{}\n", styled(line.find(": error: ") != line.npos ? Style::bold : Style::dim, clean(line)));
  const auto more = told.more > 0 ? fmt::format("{} more; ", told.more) : "";
  const auto from_root = fs::relative(log_file, workspace().root).string();
  fmt::print("{}\n", styled(Style::dim, fmt::format("{}the whole log: {}", more, from_root)));
}

}  // namespace distlab::loop
