// Outcome: how one rank of a run ended, and what it answered.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "judge/child.h"
#include "judge/frame.h"

namespace judge {

// What one rank left behind.
struct Outcome {
  bool completed = false;          // it answered, said that it was done, and its process ended with status 0
  std::string how_it_ended;        // in words, when it did not: "was ended by signal 11 (Segmentation fault)"
  std::string fault;               // what kept the trusted part of the process from its work, if anything
  Json reply;                      // what it answered; null without an answer
  Milliseconds answered_after{0};  // from its task to its answer, on the grader's clock; and of that ...
  Milliseconds asleep{0};          // ... about how long the run had nothing to do
  std::string output;              // what it printed
  std::size_t peak_memory_bytes = 0;  // of its process (getrusage), resident; tells from some 64 MiB on
};

}  // namespace judge
