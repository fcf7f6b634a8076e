// docs_lead_pictures LABS           draws labs/NN_name/lab_NN.svg for every lab, and pictures of the handbook
// docs_lead_pictures --check LABS   compares them with what is there, and looks whether the handouts show
// them
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

#include "dist/core/whole_file.h"

#include "picture.h"

namespace dist::pictures {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 40 * 1024;  // of a picture

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Picture> all_pictures() {
  auto all = message_pictures();
  for (const auto* more : {&all_reduce_pictures(), &training_pictures()})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// What is drawn besides the labs' own pictures.
struct PageOfHandbook {
  const char* name;
  std::string (*drawn)();
};
constexpr PageOfHandbook handbook[]{{"sharded", sharded_memory}, {"tensor_parallel", split_matrices}};

// The folders of the labs, by number.
std::map<std::string, fs::path> folders(const fs::path& labs) {
  std::map<std::string, fs::path> all;
  for (const auto& entry : fs::directory_iterator(labs)) {
    const auto name = entry.path().filename().string();
    if (std::regex_match(name, std::regex("[0-9][0-9]_.+"))) all[name.substr(0, 2)] = entry.path();
  }
  return all;
}

// What is wrong with a page, in either language: each must show the picture once, and say what it shows.
std::string complaints(const fs::path& folder, const std::string& name, const std::string& picture) {
  std::string all;
  for (const auto& page : {name + ".md", name + ".zh-CN.md"}) {
    const auto text = text_of(folder / page);
    const std::regex image("!\\[([^\\]]*)\\]\\(" + picture + "\\)");
    const auto shown = std::distance(std::sregex_iterator(text.begin(), text.end(), image), {});
    std::smatch found;
    std::regex_search(text, found, image);
    constexpr std::size_t least = 40;  // bytes of a sentence
    if (shown != 1 || found.str(1).size() < least)
      all += fmt::format("{}: it should show ![what is to be seen]({}), once\n", (folder / page).string(),
                         picture);
  }
  return all;
}

// Writes the picture, or says what is wrong with what is there.
std::string drawn(const fs::path& file, const std::string& page, const std::string& svg, bool checks) {
  std::string wrong;
  if (svg.size() > most_bytes)
    wrong += fmt::format("{} has {} bytes; at most {}\n", file.string(), svg.size(), most_bytes);
  if (!checks)
    write_whole_file(file, svg);
  else if (text_of(file) != svg)
    wrong +=
        fmt::format("{} is not what is drawn today: build/dev/bin/docs_lead_pictures labs\n", file.string());
  if (checks) wrong += complaints(file.parent_path(), page, file.filename().string());
  return wrong;
}

int draw(const fs::path& labs, bool checks) {
  const auto all = all_pictures();
  auto without = folders(labs);
  std::string wrong;
  for (const auto& [name, picture] : handbook)
    wrong += drawn(labs / "handbook" / fmt::format("{}.svg", name), name, picture(), checks);
  for (const Picture& picture : all) {
    const auto found = without.find(std::string(picture.lab));
    if (found == without.end()) throw std::runtime_error(fmt::format("there is no lab {}", picture.lab));
    const auto file = found->second / fmt::format("lab_{}.svg", picture.lab);
    const auto svg = picture.drawn ? picture.drawn() : trace::runs_to_svg(picture.runs(), picture.options);
    wrong += drawn(file, "README", svg, checks);
    without.erase(found);
  }
  for (const auto& [number, folder] : without)
    wrong += fmt::format("{} has no lead picture\n", folder.string());
  fmt::print("{}", wrong);
  return wrong.empty() ? 0 : 1;
}

}  // namespace

}  // namespace dist::pictures

int main(int argc, char** argv) {
  const bool checks = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !checks) {
    fmt::print(stderr, "usage: docs_lead_pictures [--check] LABS\n");
    return 2;
  }
  try {
    return dist::pictures::draw(argv[argc - 1], checks);
  } catch (const std::exception& error) {
    fmt::print(stderr, "docs_lead_pictures: {}\n", error.what());
    return 1;
  }
}
