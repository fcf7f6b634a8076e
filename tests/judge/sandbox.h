// Sandbox: what a process that is not trusted can see and do. There are two: tools (the compiler, an
// unpacker) see the system's programs, and files that they are given; a graded process sees its program and
// the libraries that this needs, and makes only the system calls that such a program needs (filter.h).
// Neither sees another process, a network, /proc or /sys, nor can it write anything without a bound.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "judge/cgroup.h"
#include "judge/passing_user.h"

namespace judge {

struct Limits;

enum class Isolation {
  bubblewrap,  // name spaces of its own: other files and processes do not exist
  user_id,     // another user's process: files that are not open to every user are closed
  limits,      // the reader's own process: good for practice, no ground for a trusted grade
};
std::string_view name(Isolation isolation);
Isolation weaker(Isolation one, Isolation other);

// What is to run, and the files it needs besides the system's.
struct Command {
  std::vector<std::string> argv;           // argv[0]: a path
  std::vector<std::string> readable = {};  // files and folders; what is not there is left out
  std::string writable = {};               // the one folder that keeps what it writes; its user is nobody
  std::string folder = "/tmp";             // to start in
  bool is_graded = false;                  // not a tool
};

// How a command is started.
struct Confined {
  Isolation isolation = Isolation::limits;
  std::vector<std::string> argv;
  std::string folder = {};                         // to go to first; empty: stay where we are
  std::shared_ptr<PassingUser> passing_user = {};  // the user that it runs as in the end, where there is one
  std::shared_ptr<ControlGroup> group = {};        // which it enters first, where there is one
};

// The best that works here for this command; found out by trying, once for each command.
// JUDGE_ISOLATION (a name) asks for another; throws Trouble where it is another word. For root, each command
// runs as a temporary user of its own.
Confined confine(const Command& command, const Limits& limits);

// A graded program. Throws Trouble when there is none, or nothing can be executed where it is.
Confined confine(const std::string& program, const Limits& limits);

}  // namespace judge
