// Real ranks with a trace.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>

#include "dist/trace/parts.h"
#include "dist/trace/recorder.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "distlab-trace-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The merged trace of n ranks.
inline trace::Trace traced(int n, const std::function<void(int)>& fn) {
  const Folder folder;
  const std::string file = folder.file("trace.json");
  const ScopedEnv variable("DIST_TRACE", file);
  run_ranks(n, fn);
  std::vector<trace::Trace> parts;
  for (int rank = 0; rank < n; ++rank) parts.push_back(trace::read_file(trace::part_path(file, rank, n)));
  return trace::merge(std::move(parts));
}

inline std::vector<trace::Event> of_kind(const trace::Trace& trace, trace::Kind kind) {
  std::vector<trace::Event> found;
  std::ranges::copy_if(trace.events, std::back_inserter(found),
                       [&](const trace::Event& event) { return event.kind == kind; });
  return found;
}

}  // namespace dist::test
