// A confined command from its start to its end: how tools (the compiler, an unpacker) work on what is not
// trusted.
#pragma once

#include <string>

#include "judge/child.h"
#include "judge/sandbox.h"

namespace judge {

struct Ran {
  int exit_code = 0;         // 128 + the signal that ended it
  std::string stopped = {};  // why: "had not finished after 60.0 s of work"; empty: it ended by itself
  std::string output = {};   // of both streams, up to limits.output_bytes
  Milliseconds worked{0};    // as seen at the last look, some hundredth of what it may
  Isolation isolation = Isolation::limits;
  bool is_well() const { return stopped.empty() && exit_code == 0; }
};

// Without standard input. Throws Trouble when the system refuses, or has no time for it.
Ran run_confined(const Command& command, const Limits& limits);

// Removed with all that is in it; open to the users that confined commands run as.
class ScratchFolder {
 public:
  ScratchFolder();  // throws Trouble when the system refuses
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace judge
