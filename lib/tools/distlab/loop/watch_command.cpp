// distlab watch: builds and grades whenever the file is saved.
#include "distlab/commands.h"
#include "distlab/labs.h"
#include "distlab/loop/watcher.h"
#include "distlab/progress.h"

namespace distlab {
namespace {

// Returns the first lab that is not solved, or else the first lab.
std::optional<Lab> current_lab() {
  const auto labs = find_labs();
  const auto progress = read_progress();
  for (const auto& lab : labs) {
    const auto mine = progress.find(lab.folder);
    if (mine == progress.end() || !mine->second.is_solved()) return lab;
  }
  return labs.empty() ? std::nullopt : std::optional(labs.front());
}

}  // namespace

int watch_lab(const WatchOptions& options) {
  const auto lab = options.lab.empty() ? current_lab() : asked_lab(options.lab);
  if (!lab) return exit_usage;
  loop::Watcher(*lab).run();
  return exit_ok;
}

}  // namespace distlab
