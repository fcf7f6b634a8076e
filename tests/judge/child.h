// Child: one rank's process. Code that is not trusted runs in it, so it gets an environment of its own, no
// open descriptors but its channel and its output, limits, and a process group that is killed as a whole.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <sys/types.h>

#include "dist/core/handles.h"

#include "judge/sandbox.h"

namespace judge {

using Milliseconds = std::chrono::milliseconds;

struct Limits {
  // Times of all processes of a run together (patience.h).
  Milliseconds work{10'000};    // on a processor
  Milliseconds asleep{10'000};  // while none of them has anything to do
  // Of the grader for them: routing the messages of the solutions takes at most 2 s of a run.
  Milliseconds own_work{20'000};
  Milliseconds in_all = Milliseconds::max();  // of the three together
  Milliseconds wall{600'000};                 // then this machine is too busy to say
  // Limits of each process.
  std::size_t output_bytes = 64 << 10;   // of what it prints, the rest is dropped
  int processes = 48;                    // and threads, of its sandbox
  std::size_t memory_bytes = 768 << 20;  // address space
  std::size_t file_bytes = 256 << 20;    // of each file it writes; a tensor arena is one
  int descriptors = 64;
  bool writes_files = false;  // a graded process: in 16 MiB of /tmp
};

class Child {
 public:
  // It has `line`, if there is one, as line_fd. Throws Trouble when the system refuses.
  explicit Child(const Confined& confined, dist::UniqueFd line = {});
  ~Child();  // kills what is left
  Child(Child&&) = delete;

  int channel() const { return channel_.get(); }  // our end; not blocking for reads with MSG_DONTWAIT
  int output() const { return output_.get(); }    // what it prints; non-blocking
  int pidfd() const { return pidfd_.get(); }      // readable when it has ended
  pid_t pid() const { return pid_; }              // -1 once it is collected

  void kill();  // its process group, which is still to be collected
  // The same, and collects it. Returns how it ended as wait(2) tells; the same again later.
  int end();
  // Once it has ended: the most memory that it had, as the kernel says. 0: unknown.
  std::size_t peak_memory_bytes() const { return peak_memory_bytes_; }

 private:
  dist::UniqueFd channel_, output_, report_, pidfd_;
  const Isolation isolation_;
  const std::shared_ptr<PassingUser> passing_user_;  // whose processes are all this child's
  std::shared_ptr<ControlGroup> group_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::size_t peak_memory_bytes_ = 0;
};

// Two connected stream sockets.
std::pair<dist::UniqueFd, dist::UniqueFd> socket_pair();

}  // namespace judge
