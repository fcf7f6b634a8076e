// The scenes of `distlab demo`: each is a small distlab program of its own, one file each.
#pragma once

namespace distlab::demo {

inline constexpr int ranks = 4;

// Each prints what happened and throws dist::Error when it did not.
void introduce_ranks();
void sum_in_halves();
void relay_a_message();
void all_reduce_64_mib();
void train_a_network();
void grade_a_lab();

}  // namespace distlab::demo
