// A pipeline schedule in a terminal: its timeline, a row per rank, and its lists of actions.
//
//           0              5              10
//   rank 0  F0 F1 ......B0    F2 B1    ...B2
//   rank 1  ...F0 B0    F1 B1    F2 B2    ......
//
//   F: forward, B: backward; dots: the rank waits
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dist/parallel/pipeline/schedule.h"
#include "dist/parallel/pipeline/timeline.h"

namespace dist::pipeline {

struct TextOptions {
  int width = 100;  // columns, at least 40
  // Colours a computation; without this function there are no colours.
  std::function<std::string(ActionKind kind, std::string_view cell)> colour = {};
};

// Returns lines of at most `width` columns, each ended by '\n', and a legend below. All cells have as much
// text as the shortest one has room for: "F12b" (micro-batch 12 on the rank's second chunk), "F2" (digits
// modulo 10) or "F". A timeline that is too long is cut into parts, one below the other; one that would take
// more than eight parts is compressed, and says so.
std::string timeline_text(const Timeline& timeline, const Shape& shape, const TextOptions& options = {});

// The same of the lists, in the words of short_text(), messages that are started together in brackets.
std::string actions_text(const Schedule& schedule, int width = 100);

}  // namespace dist::pipeline
