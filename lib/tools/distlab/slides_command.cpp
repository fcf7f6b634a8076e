// distlab slides: shows the decks of the lectures, which node builds from slides/, on this machine or as PDF.
#include <cstdio>

#include <fmt/format.h>

#include "distlab/commands.h"
#include "distlab/process.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

int missing(std::string_view what) {
  fmt::print(stderr, "distlab: {}\n", what);
  return exit_missing;
}

// npm writes into node_modules what it has installed.
bool is_installed(const fs::path& slides) {
  const auto noted = slides / "node_modules/.package-lock.json";
  return fs::exists(noted) && fs::last_write_time(noted) >= fs::last_write_time(slides / "package-lock.json");
}

// `asked` is "05" or "05_broadcast"; the builder understands both.
bool is_deck(const fs::path& slides, const std::string& asked) {
  for (const auto& entry : fs::directory_iterator(slides)) {
    const std::string name = entry.path().filename();
    if ((name == asked || name.starts_with(asked + "_")) && fs::exists(entry.path() / "slides.md"))
      return true;
  }
  return false;
}

bool install(const fs::path& slides) {
  fmt::print("installing the packages of slides/ (only this time) ...\n");
  std::fflush(stdout);
  const auto npm = run_captured({"npm", "--prefix", slides, "ci"});
  if (npm.exit_code != 0) fmt::print(stderr, "{}", npm.output);
  return npm.exit_code == 0;
}

}  // namespace

int show_slides(const SlidesOptions& options) {
  const auto slides = workspace().root / "slides";
  if (!fs::exists(slides / "builder")) return missing("this checkout has no slides");
  for (const auto& asked : options.decks) {
    if (is_deck(slides, asked)) continue;
    fmt::print(stderr, "distlab: there is no deck {}; the decks are named 00 to 16\n", asked);
    return exit_usage;
  }
  for (const char* program : {"node", "npm"}) {
    if (find_program(program).empty())
      return missing(
          fmt::format("slides need {}, which is not installed: ./distlab setup --slides", program));
  }
  if (!is_installed(slides) && !install(slides))
    return missing("npm could not install the packages of slides/; its messages are above");
  std::vector<std::string> argv{"node"};
  if (options.pdf || options.build) {
    argv.push_back(slides / "builder" / (options.pdf ? "pdf.mjs" : "build.mjs"));
  } else {
    argv.insert(argv.end(), {slides / "builder/serve.mjs", fmt::to_string(options.port)});
  }
  argv.insert(argv.end(), options.decks.begin(), options.decks.end());
  return run_in_foreground(argv) == 0 ? exit_ok : exit_failed;
}

}  // namespace distlab
