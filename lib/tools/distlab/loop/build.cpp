#include "distlab/loop/build.h"

#include <string_view>

#include <stdlib.h>

#include "dist/core/whole_file.h"

#include "distlab/process.h"
#include "distlab/workspace.h"

namespace distlab::loop {
namespace {

constexpr std::string_view status_mark = "@@ ";

// Keeps the compilers' part of Ninja's output, like the ./distlab script.
class LogFilter {
 public:
  explicit LogFilter(const std::function<void(const std::string&)>& progress) : progress_(progress) {}

  void add(std::string_view line) {
    const bool is_command = after_failed_;  // the line after "FAILED:"
    after_failed_ = line.starts_with("FAILED:");
    if (line.starts_with(status_mark)) {
      line.remove_prefix(status_mark.size());
      progress_(std::string(line.substr(0, line.find(' '))));
      return;
    }
    const bool is_failure = line.starts_with("ninja: error:") || line.starts_with("ninja: fatal:");
    const bool is_ninjas = line.starts_with("ninja: ") && !is_failure;
    if (is_command || after_failed_ || is_ninjas || line.starts_with("-- ")) return;
    log_ += std::string(line) + '\n';
  }
  const std::string& log() const { return log_; }

 private:
  const std::function<void(const std::string&)>& progress_;
  std::string log_;
  bool after_failed_ = false;
};

}  // namespace

Build build_targets(const std::vector<std::string>& targets,
                    const std::function<void(const std::string&)>& progress) {
  const auto& tree = workspace().build;
  ::setenv("NINJA_STATUS", "@@ %f/%t ", 1);
  // The ./distlab script has the same lock, so that only one build runs at a time in this tree.
  std::vector<std::string> argv{"flock", tree / ".distlab-lock", "ninja", "-C", tree};
  argv.insert(argv.end(), targets.begin(), targets.end());
  LogFilter filter(progress);
  const auto run = run_streamed(argv, [&](std::string_view line) { filter.add(line); });
  Build build{run.exit_code == 0, filter.log(), tree / "build.log"};
  dist::write_whole_file(build.log_file, build.log);
  return build;
}

}  // namespace distlab::loop
