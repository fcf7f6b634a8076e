// Builds a lab's programs with Ninja, from within distlab. (The ./distlab script has set everything up.)
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace distlab::loop {

struct Build {
  bool succeeded = false;
  std::string log;       // what the compiler said, without Ninja's progress
  std::string log_file;  // contains `log`
};

// Calls `progress` with "2/5" and so on during the build. Waits until another build in this tree has ended.
Build build_targets(const std::vector<std::string>& targets,
                    const std::function<void(const std::string&)>& progress);

}  // namespace distlab::loop
