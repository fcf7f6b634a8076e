#include "distlab/progress.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

fs::path progress_file() { return workspace().root / ".distlab" / "progress"; }

}  // namespace

std::map<std::string, LabProgress> read_progress() {
  std::map<std::string, LabProgress> progress;
  std::ifstream file(progress_file());
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string lab, day, hour;
    LabProgress of;
    if (words >> lab >> of.best >> of.last >> day >> hour) {
      of.when = day + ' ' + hour;
      progress[lab] = of;
    }
  }
  return progress;
}

void note_progress(const std::string& lab, int score) {
  auto progress = read_progress();
  LabProgress& of = progress[lab];
  of = {std::max(of.best, score), score,
        fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::time(nullptr)))};
  std::error_code ignored;
  fs::create_directories(progress_file().parent_path(), ignored);
  const fs::path fresh = progress_file().string() + ".new";
  std::ofstream file(fresh);
  file << fmt::format("# {:30} {:>4} {:>4}  {}\n", "lab", "best", "last", "when");
  for (const auto& [folder, one] : progress)
    file << fmt::format("{:32} {:>4} {:>4}  {}\n", folder, one.best, one.last, one.when);
  file.close();
  if (file) fs::rename(fresh, progress_file(), ignored);
  if (!file || ignored) fmt::print(stderr, "cannot write {}\n", progress_file().string());
}

}  // namespace distlab
