// What the grading of lab 09 is made of: the ring's expected values, and what it may send.
#pragma once

#include "judge/sums.h"

namespace lab09 {

using judge::Sum, judge::SumsAsked;

// Adds what is expected of this call, and the wrong ideas about it.
SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums);

// These check one call, on topology "rounds": messages go to neighbours only, and the numbers of messages,
// bytes and steps are those of the contract.
void expect_ring_traffic(const SumsAsked& asked);
void expect_little_scratch(const SumsAsked& asked);
// The memory of whole processes, for 64 MiB of data.
void expect_little_memory(const std::string& call);
// A call among four ranks or more, while the program around it has messages of its own under way.
void expect_apart(const SumsAsked& asked);
// In virtual time, on a laptop.
void expect_adding_is_hidden(SumsAsked asked);

}  // namespace lab09
