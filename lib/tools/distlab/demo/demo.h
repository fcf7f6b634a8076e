// The scenes of `distlab demo`. Each is a small distlab program in a file of its own.
#pragma once

namespace distlab::demo {

inline constexpr int ranks = 4;

// Each prints what happened, and throws dist::Error when something went wrong.
void introduce_ranks();
void sum_in_halves();
void relay_a_message();
void all_reduce_64_mib();
void train_a_network();
void grade_a_lab();

}  // namespace distlab::demo
