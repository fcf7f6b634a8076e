// Steps that a rank gives up, because of an error that the program catches. Its next collective could meet
// one that the others still call for that step, of the same kind and size. So collectives carry the number of
// steps that their rank has given up (transport/opcode.h), and ranks that disagree about it get
// Error{mismatch}. Ranks that all give up the same steps go on together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "dist/core/error.h"
#include "dist/group/group_state.h"
#include "dist/group/process_group.h"

namespace dist {

// From now on this rank's collectives of the group match only those of ranks that have given up as many
// steps.
inline void give_up_step(const ProcessGroup& of, int steps = 1) noexcept {
  try {
    if (!of && !is_initialized()) return;
    const ProcessGroup group = of ? of : default_group();
    if (group.is_member()) group.state()->steps_given_up += static_cast<std::uint32_t>(steps);
  } catch (const Error&) {  // the group has ended
  }
}

// While it lives, this rank's collectives of the group match only those of ranks that have made one, too.
class ApartFromOthers {
 public:
  explicit ApartFromOthers(const ProcessGroup& group) : group_(group) { give_up_step(group_); }
  ~ApartFromOthers() { give_up_step(group_, -1); }
  ApartFromOthers(const ApartFromOthers&) = delete;
  ApartFromOthers& operator=(const ApartFromOthers&) = delete;

 private:
  const ProcessGroup group_;
};

// The forwards of a model in training that wait for their backward. One too many, and the oldest never gets
// one: that step was given up, between forward and backward, without an error that the model could see.
class OpenSteps {
 public:
  // A forward of a model that keeps `kept` of them has ended. Returns whether a step was given up.
  bool forward(std::size_t kept) {
    if (open_ < kept) return ++open_, false;
    open_ = kept;
    return true;
  }
  void backward() { open_ -= open_ > 0 ? 1 : 0; }
  // All of them are, because of an error. Returns whether a step was under way.
  bool abandon() noexcept { return std::exchange(open_, 0) > 0; }

 private:
  std::size_t open_ = 0;
};

}  // namespace dist
