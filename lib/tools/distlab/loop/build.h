// Builds a lab's programs with Ninja, from within distlab (the ./distlab script has set everything up).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace distlab::loop {

struct Build {
  bool succeeded = false;
  std::string log;       // what the compiler said, without Ninja's progress
  std::string log_file;  // where that is kept
};

// `progress` hears "2/5" while it goes on. Waits for another build in this tree to end.
Build build_targets(const std::vector<std::string>& targets,
                    const std::function<void(const std::string&)>& progress);

}  // namespace distlab::loop
