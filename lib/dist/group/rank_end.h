// Ways in which a rank ends other than by returning from its function.
#pragma once

#include <exception>

#include "dist/group/run_rank.h"

namespace dist {

RankResult describe_end(std::exception_ptr error);  // its function threw this
// For a process that fn has forked and that reaches fn's end: it is not the rank, so nothing is reported, and
// everything that must be left or freed belongs to the rank.
[[noreturn]] void end_forked_child(int rank, const RankResult& result);

// Ranks that are threads or virtual share a process, and exit() on one of them ends them all. While such an
// object exists on a rank, exit() says which rank called it and ends the process with exit code
// exit_code_of_shared_exit.
class SharedProcess {
 public:
  explicit SharedProcess(bool is_shared);
  ~SharedProcess();
  SharedProcess(const SharedProcess&) = delete;
  SharedProcess& operator=(const SharedProcess&) = delete;

 private:
  const bool is_shared_;  // false: this rank is a process of its own, and may end as it likes
};
inline constexpr int exit_code_of_shared_exit = 70;  // EX_SOFTWARE of sysexits.h

}  // namespace dist
