// The table of wrong programs: which ranks are to blame, and where it is found. Lines are marked in the
// sources.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace dist::test {

enum class Found {
  not_yet,    // by none: the program is not run
  simulated,  // by the simulator
  detail,     // there, and on real ranks with DIST_DEBUG=detail
  everywhere,
};

struct WrongProgram {
  std::string_view name;  // of the file; its first letters are the finding's code
  Found found;
  std::vector<int> ranks;  // which the finding names
  void (*wrong)(int rank);
  void (*right)(int rank);
};

std::span<const WrongProgram> wrong_programs();

}  // namespace dist::test
