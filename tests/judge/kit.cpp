#include "judge/kit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <wordexp.h>

#include "judge/libraries.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

// Quotes the text, so that a shell reads it as one word.
std::string quoted(std::string text) {
  constexpr std::string_view apostrophe = "'\\''";
  for (auto at = text.find('\''); at != text.npos; at = text.find('\'', at + apostrophe.size()))
    text.replace(at, 1, apostrophe);
  return "'" + text + "'";
}

// What ninja would run for this one output.
std::string command_for(const fs::path& build, const std::string& output) {
  const auto ask = fmt::format("ninja -C {} -t commands -s {} 2>/dev/null", quoted(build), quoted(output));
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(ask.c_str(), "r"), ::pclose);
  std::string said;
  std::array<char, 4096> piece{};
  while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) said += piece.data();
  while (said.ends_with('\n')) said.pop_back();
  const auto last = said.substr(said.rfind('\n') + 1);
  if (last.find(" -o ") == last.npos)
    throw std::runtime_error(fmt::format("{} does not know how {} is built", build.string(), output));
  return last;
}

// Splits it into words as a shell does; the compiler comes first: no cache and no other launcher.
Words words_of(std::string command) {
  for (const std::string_view nothing : {": && ", " && :"}) {
    const auto at = command.find(nothing);
    if (at != command.npos) command.erase(at, nothing.size());
  }
  wordexp_t expanded{};
  if (::wordexp(command.c_str(), &expanded, WRDE_NOCMD | WRDE_UNDEF) != 0)
    throw std::runtime_error("cannot read the command " + command);
  Words words(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  ::wordfree(&expanded);
  const auto compiler = std::ranges::find(words, JUDGE_COMPILER);
  if (compiler == words.end()) throw std::runtime_error(fmt::format("no {} in {}", JUDGE_COMPILER, command));
  words.erase(words.begin(), compiler);
  return words;
}

// Replaces the word after `option` by `place`; returns the old word.
std::string put(Words& words, std::string_view option, const char* place) {
  const auto at = std::ranges::find(words, option);
  if (at == words.end() || at + 1 == words.end())
    throw std::runtime_error(fmt::format("no {} in {}", option, fmt::join(words, " ")));
  return std::exchange(*(at + 1), place);
}

Words existing(const Words& words, const fs::path& folder) {
  Words found;
  for (const auto& word : words) {
    if (!word.starts_with('-') && fs::is_regular_file(folder / word)) found.push_back(folder / word);
  }
  return found;
}

std::vector<fs::path> libraries_among(const Words& files) {
  std::vector<fs::path> found;
  std::ranges::copy_if(files, std::back_inserter(found), [](const fs::path& file) {
    return file.filename().string().starts_with("libdist_student");
  });
  if (found.empty()) throw std::runtime_error("no libdist_student.so among what the runner is linked with");
  return found;
}

// "/opt/gcc" of "/opt/gcc/bin/g++": with it comes what the program needs.
std::string prefix_of(const fs::path& program) { return program.parent_path().parent_path(); }

// A header to precompile, and what it was precompiled to, which is beside it.
Words forms_of(const fs::path& header) {
  Words forms;
  for (const auto& entry : fs::directory_iterator(header.parent_path())) {
    if (entry.path().filename().string().starts_with(header.filename().string()))
      forms.push_back(entry.path());
  }
  return forms;
}

fs::path object_of(const Lab& lab) {
  const auto in_labs = fs::relative(lab.file, "labs");
  return fs::path("labs/CMakeFiles") / fmt::format("lab_{}_code.dir", lab.number()) /
         (in_labs.string() + ".o");
}

// `word` of lines like: #include "word"
Words included_by(const fs::path& header) {
  Words found;
  std::ifstream file(header);
  constexpr std::string_view start = "#include \"";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(start)) found.push_back(line.substr(start.size(), line.rfind('"') - start.size()));
  }
  return found;
}

void collect(const Lab& lab, const fs::path& header, std::vector<fs::path>& found) {
  if (std::ranges::find(found, header) != found.end()) return;
  found.push_back(header);
  for (const auto& name : included_by(header)) {
    for (const auto& folder : {lab.root / "lib", header.parent_path()}) {
      if (fs::is_regular_file(folder / name)) collect(lab, fs::canonical(folder / name), found);
    }
  }
}

}  // namespace

std::string Lab::number() const {
  const auto folder = file.parent_path().filename().string();
  return folder.substr(0, folder.find('_'));
}

Kit kit_of(const Lab& lab) {
  const auto object = object_of(lab);
  Kit kit;
  kit.compile = words_of(command_for(lab.build, object));
  put(kit.compile, "-o", Kit::object);
  put(kit.compile, "-MF", Kit::dependencies);
  put(kit.compile, "-c", Kit::source);
  for (const char* more : {"-Wno-error", "-pipe"})
    kit.compile.emplace_back(more);  // the student sees the warnings
  for (const auto& header : public_headers(lab)) kit.compile_reads.push_back(header);
  const auto header = std::ranges::find(kit.compile, "-include");
  if (header != kit.compile.end())
    std::ranges::copy(forms_of(*(header + 1)), std::back_inserter(kit.compile_reads));
  kit.link = words_of(command_for(lab.build, fmt::format("bin/lab_{}_runner", lab.number())));
  put(kit.link, "-o", Kit::program);
  kit.link_reads = existing(kit.link, lab.build);
  kit.libraries = libraries_among(kit.link_reads);
  for (const auto& library : kit.libraries)  // the linker looks at what they need
    std::ranges::copy(libraries_of(library), std::back_inserter(kit.link_reads));
  std::ranges::replace(kit.link, object.string(), std::string(Kit::object));
  kit.own_object = lab.build / object;
  for (Words* reads : {&kit.compile_reads, &kit.link_reads}) reads->push_back(prefix_of(JUDGE_COMPILER));
  return kit;
}

Words filled(Words words, const std::vector<std::pair<std::string, std::string>>& places) {
  for (const auto& [place, value] : places) std::ranges::replace(words, place, value);
  return words;
}

fs::path contract_of(const Lab& lab) {
  auto header = lab.root / lab.file;
  return fs::canonical(header.replace_extension(".h"));
}

std::vector<fs::path> public_headers(const Lab& lab) {
  std::vector<fs::path> found;
  for (const char* header : {"dist/dist.h", "dist/core/fail.h", "dist/core/todo.h", "dist/store/store.h"})
    collect(lab, fs::canonical(lab.root / "lib" / header), found);
  collect(lab, contract_of(lab), found);
  return found;
}

}  // namespace judge
