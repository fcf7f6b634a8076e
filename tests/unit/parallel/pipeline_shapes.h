// The shapes on which pipeline schedules are tested.
#pragma once

#include <vector>

#include <fmt/format.h>

#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline::test {

struct Case {
  Kind kind;
  Shape shape;
  std::string text() const {
    return fmt::format("{}, {} ranks, {} micro-batches, {} chunks", name(kind), shape.ranks,
                       shape.micro_batches, shape.chunks);
  }
};

// p 1 to 8, m 1 to 16, v 1 to 4 for interleaved.
inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& [kind, name] : kind_names)
    for (int ranks = 1; ranks <= 8; ++ranks)
      for (int micro_batches = 1; micro_batches <= 16; ++micro_batches)
        for (int chunks = 1; chunks <= (kind == Kind::interleaved ? 4 : 1); ++chunks)
          cases.push_back({kind, {ranks, micro_batches, chunks}});
  return cases;
}

}  // namespace dist::pipeline::test
