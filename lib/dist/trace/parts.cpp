#include "dist/trace/parts.h"

#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/log.h"
#include "dist/trace/recorder.h"

namespace dist::trace {
namespace fs = std::filesystem;

std::string part_path(const std::string& path, int rank, int ranks) {
  if (ranks == 1) return path;
  const fs::path whole(path);
  const std::string name =
      fmt::format("{}.rank{}{}", whole.stem().string(), rank, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::string absolute_path(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.string();
}

JoinedTrace::JoinedTrace(const std::string& path, int ranks) : path_(absolute_path(path)), ranks_(ranks) {
  if (path_.empty() || ranks_ == 1) return;
  std::error_code ignored;
  for (int rank = 0; rank < ranks_; ++rank) fs::remove(part_path(path_, rank, ranks_), ignored);
}

JoinedTrace::~JoinedTrace() {
  if (path_.empty() || ranks_ == 1) return;  // a single rank has written the file itself
  try {
    join();
  } catch (const std::exception& error) {
    log(LogLevel::warn, "the ranks' trace files {} were not joined: {}", part_path(path_, 0, ranks_),
        error.what());
  }
}

void JoinedTrace::join() const {
  std::vector<std::string> files;
  std::vector<Trace> traces;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::string file = part_path(path_, rank, ranks_);
    if (!fs::exists(file)) continue;  // killed, or not in a job
    traces.push_back(read_file(file));
    files.push_back(std::move(file));
  }
  if (files.empty()) return;
  write_file(merge(std::move(traces)), path_);
  for (const auto& file : files) fs::remove(file);
  log(LogLevel::info, "trace of {} of {} written to {}", files.size(), counted(ranks_, "rank"), path_);
}

}  // namespace dist::trace
