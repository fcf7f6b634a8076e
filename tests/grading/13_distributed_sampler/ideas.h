// Lab 13: names for wrong answers.
#pragma once

#include <vector>

#include "support.h"

namespace lab13 {

inline constexpr const char* starved_in_words =
    "a sample is taken only where count % ranks and count % workers both fit: unless the two numbers have no "
    "common divisor, for some workers that never happens, and their rank waits for them for ever. First take "
    "the rank's samples, then every workers-th of those";
inline constexpr const char* rest_in_words =
    "where the stream ends within a round some ranks get one sample more than the others: they go on alone, "
    "and "
    "their next collective waits for ever. A round that is not whole is left out";

// Each names the idea that all answers fit, if there is one.
void diagnose(const std::vector<Shuffle>& cases, const std::vector<Indices>& got);
void diagnose(const Sampling& asked, std::int64_t epoch, const Shares& got);
void diagnose(const Reading& asked, const Shares& got);  // [rank * workers + worker]

}  // namespace lab13
