// A run that a signal asks to end: SIGTERM, which Slurm, Kubernetes and spot machines send before they kill,
// or the signal of --stop-signal (Slurm: --signal=USR1@60).
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/device.h"

namespace distlab {

// Exit code of a run that ended because a signal asked for it, whichever signal: --resume continues it.
inline constexpr int exit_asked_to_end = 143;

// From now on, SIGTERM and `stop_signal` (0: none) are noted, here and in ranks that are forked afterwards:
// one request serves all of them. The same signal again, more than three seconds later, ends the process that
// gets it at once.
void note_requests_to_end(int stop_signal);
// Whether an Ending of this process, or of a rank that was forked from it, has ended a run.
bool has_ended_early();

// "TERM", "SIGTERM" or "15"; 0: not the name of a signal that can be waited for.
int signal_named(const std::string& text);

// One rank's part in ending early: the ranks agree on the step after which the run ends.
class Ending {
 public:
  explicit Ending(dist::Device device) : device_(device) {}
  // Returns whether the run ends after this step, the same on all ranks. Collective, some five times per
  // second; between those, a call costs nothing.
  bool after_step();
  bool is_agreed() const { return is_agreed_; }
  // "SIGTERM: the run ends after step 12; it is saved in a.safetensors, and --resume continues it".
  std::string words(const std::string& where, const std::string& checkpoint) const;

 private:
  const dist::Device device_;
  std::int64_t steps_ = 0, next_ = 1;  // since the ranks last asked each other, and until they do
  double asked_at_s_ = 0;
  bool is_agreed_ = false;
};

}  // namespace distlab
