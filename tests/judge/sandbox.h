// Sandbox: what a process that is not trusted can see and do: nothing but its program, what it needs, and the
// system's libraries, read only; no other process, no network, few processes, memory and files of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "judge/passing_user.h"

namespace judge {

struct Limits;

enum class Isolation {
  bubblewrap,  // name spaces of its own: other files and processes do not exist
  user_id,     // another user's process: files that are not everybody's are closed
  limits,      // the reader's own process: good for practice, no ground for a trusted grade
};
std::string_view name(Isolation isolation);
Isolation weaker(Isolation one, Isolation other);

// What is to run, and the files it needs beside the system's.
struct Command {
  std::vector<std::string> argv;           // argv[0]: a path
  std::vector<std::string> readable = {};  // files and folders; what is not there is left out
  std::string writable = {};               // the one folder that keeps what it writes; its user is nobody
  std::string folder = "/tmp";             // to start in
};

// How a command is started.
struct Confined {
  Isolation isolation = Isolation::limits;
  std::vector<std::string> argv;
  uid_t user = 0;                                  // to become first; 0: stay who we are
  std::string folder = {};                         // to go to first; empty: stay where we are
  std::shared_ptr<PassingUser> passing_user = {};  // as whom it runs in the end, where that is one
  bool counts_processes = false;                   // of its user, who has no others: there may be so many
};

// The best that works here for this command; found out by trying, once for each command.
// JUDGE_ISOLATION (a name) asks for another. Root's commands run as passing users, each as another one.
Confined confine(const Command& command, const Limits& limits);

// A program alone, with the libraries that it shares with this one. Throws std::runtime_error when there is
// none.
Confined confine(const std::string& program, const Limits& limits);

}  // namespace judge
