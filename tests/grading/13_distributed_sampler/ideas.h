// Lab 13: names for wrong answers.
#pragma once

#include <vector>

#include "support.h"

namespace lab13 {

inline constexpr const char* starved_in_words =
    "a sample is taken only if both count % ranks and count % workers fit: if the two numbers have a common "
    "divisor, this never happens for some workers, and their rank waits for them forever; fix: first take "
    "the rank's samples, then every workers-th of those";
inline constexpr const char* rest_in_words =
    "if the stream ends within a round, some ranks get one sample more than the others and continue alone, "
    "so their next collective waits forever; fix: leave an incomplete round out";

// Each names the idea that fits all answers, if there is one.
void diagnose(const std::vector<Shuffle>& cases, const std::vector<Indices>& got);
void diagnose(const Sampling& asked, std::int64_t epoch, const Shares& got);
void diagnose(const Reading& asked, const Shares& got);  // [rank * workers + worker]

}  // namespace lab13
