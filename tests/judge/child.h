// Child: one rank's process. Code that is not trusted runs in it, so it gets an environment of its own, no
// open descriptors but its channel and its output, limits, and a process group that is killed as a whole.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace judge {

using Milliseconds = std::chrono::milliseconds;

struct Limits {
  Milliseconds wall{10'000};            // of the whole team, from the first task
  unsigned cpu_seconds = 20;            // of each process
  std::size_t output_bytes = 64 << 10;  // of what a rank prints, the rest is dropped
  int processes = 256;                  // and threads, of each process's sandbox
};

enum class Network {
  none,
  judge,  // the judge's: it is a virtual rank (sim_run.h)
};

class Child {
 public:
  // Starts `program` without arguments, confined (sandbox.h). Throws std::runtime_error when the system
  // refuses.
  Child(const std::string& program, const Limits& limits, Network network = Network::none);
  ~Child();  // kills what is left
  Child(Child&&) = delete;

  int channel() const { return channel_.get(); }  // our end; not blocking for reads with MSG_DONTWAIT
  int output() const { return output_.get(); }    // what it prints; non-blocking
  dist::UniqueFd take_simulation() { return std::move(simulation_); }  // our end
  int pidfd() const { return pidfd_.get(); }                           // readable when it has ended

  // Kills its process group and collects it. Returns how it ended as wait(2) tells; the same again later.
  int end();

 private:
  dist::UniqueFd channel_, simulation_, output_, pidfd_;
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace judge
