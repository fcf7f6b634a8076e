// Steps that a rank gives up, because of an error that the program catches. Its next collective could meet
// one that the others still call for that step, of the same kind and size. So collectives carry the number of
// steps that their rank has given up (transport/opcode.h), and ranks that disagree about it get
// Error{mismatch}. Ranks that all give up the same steps go on together.
#pragma once

#include "dist/group/group_state.h"
#include "dist/group/process_group.h"

namespace dist {

// From now on this rank's collectives of the group match only those of ranks that have given up as many
// steps.
inline void give_up_step(const ProcessGroup& of) noexcept {
  try {
    if (!of && !is_initialized()) return;
    const ProcessGroup group = of ? of : default_group();
    if (group.is_member()) ++group.state()->given_up;
  } catch (const Error&) {  // the group has ended
  }
}

}  // namespace dist
