// Sandbox: what a process that is not trusted can see and do: nothing but its program and the system's
// libraries, read only; no other process, no network when it needs none, few processes of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace judge {

struct Limits;
enum class Network;

enum class Isolation {
  bubblewrap,  // name spaces of its own: other files and processes do not exist
  user_id,     // another user's process: files that are not everybody's are closed
  limits,      // the reader's own process: good for practice, no ground for a trusted grade
};
std::string_view name(Isolation isolation);

// How a program is started.
struct Confined {
  Isolation isolation = Isolation::limits;
  std::vector<std::string> argv;
  uid_t user = 0;  // to become first; 0: stay who we are
};

// The best that works here for this program; found out by trying, once for each program and limit.
// JUDGE_ISOLATION (a name) asks for another.
Confined confine(const std::string& program, const Limits& limits, Network network);

}  // namespace judge
