// A confined command from its start to its end: how tools (the compiler, an unpacker) work on what is not
// trusted.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "judge/child.h"
#include "judge/sandbox.h"

namespace judge {

struct Ran {
  int exit_code = 0;         // 128 + the signal that ended it
  std::string stopped = {};  // why: "had not finished after 60.0 s of work"; empty: it ended by itself
  std::string output = {};   // of both streams, up to limits.output_bytes
  Milliseconds spent{0};     // of work and sleep, as seen at the last look, some hundredth of what it may
  Isolation isolation = Isolation::limits;
  bool is_well() const { return stopped.empty() && exit_code == 0; }
};

// Without standard input. Throws Trouble when the system refuses, or has no time for it.
Ran run_confined(const Command& command, const Limits& limits);

// Several commands, of which all together may take limits.in_all.
class Errand {
 public:
  explicit Errand(const Limits& limits) : limits_(limits), left_(limits.in_all) {}
  const Limits& limits() const { return limits_; }
  // With another bound of its output, or that of the limits. Not started where nothing is left; then it was
  // stopped.
  Ran run(const Command& command, std::size_t output_bytes = 0);

 private:
  const Limits limits_;
  Milliseconds left_;
};

// Removed with all that is in it, by the process that made it. Both throw Trouble when the system refuses.
class ScratchFolder {
 public:
  ScratchFolder();                                          // open to the users that confined commands run as
  explicit ScratchFolder(const std::filesystem::path& in);  // in this folder, closed to all other users
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const pid_t owner_;
};

}  // namespace judge
