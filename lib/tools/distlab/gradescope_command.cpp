// distlab gradescope build: an autograder to upload.
#include <random>

#include <fmt/format.h>

#include "dist/core/whole_file.h"

#include "distlab/checkout_files.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/temporary_folder.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"
#include "distlab/zip_file.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

std::string default_name(const std::optional<Lab>& lab) {
  return lab ? fmt::format("autograder_lab_{:02}.zip", lab->number) : "autograder.zip";
}

}  // namespace

int build_autograder(const GradescopeOptions& options) {
  std::optional<Lab> lab;
  if (!options.lab.empty() && !(lab = asked_lab(options.lab))) return exit_usage;
  if (!fs::exists(workspace().root / "solutions")) {
    fmt::print(stderr, no_solutions);
    return exit_missing;
  }
  const fs::path zip = fs::absolute(options.output.empty() ? fs::path(default_name(lab)) : options.output);
  check_output("--output", zip);
  const TemporaryFolder folder("autograder");
  Waiting waiting("packing the checkout");
  for (const auto& file : checkout_files()) copy_checkout_file(file, folder.path() / "distlab");
  for (const auto* script : {"setup.sh", "run_autograder"}) {
    fs::copy(workspace().root / "lib/tools/gradescope" / script, folder.path() / script);
  }
  dist::write_whole_file(folder.path() / "lab", lab ? std::to_string(lab->number) : "");
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  dist::write_whole_file(folder.path() / "seed", std::to_string(seed));
  write_zip(zip, folder.path(), {"setup.sh", "run_autograder", "lab", "seed", "distlab"});
  waiting.clear();
  fmt::print("{} ({:.1f} MB) is the autograder of {}: upload it to the assignment.\n", zip.string(),
             static_cast<double>(fs::file_size(zip)) / 1e6,
             lab ? lab->title : "every lab that an assignment's title names (\"Lab 5: ...\")");
  fmt::print("All submissions get the random tests of seed {}.\n", seed);
  fmt::print("It contains all solutions and tests: do not give it to students.\n");
  return exit_ok;
}

}  // namespace distlab
