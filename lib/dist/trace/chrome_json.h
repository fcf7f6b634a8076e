// Traces as files: the Chrome trace event format, which chrome://tracing and https://ui.perfetto.dev show.
//
//   {"otherData": {"format": "distlab trace 1", "title": "...", "ranks": 4, "virtual_time": true,
//                  "ranks_per_node": 8, "findings": [{"code", "title", "what", "mend", "parties": [
//                                                     {"rank", "doing", "file", "line", "waits_for"}]}]},
//    "traceEvents": [ ... ]}
//
// - `ranks_per_node` and `findings` are present only if they say something.
// - One process. Each rank has a thread named "rank N" with its calls, waits, reductions and computations,
//   and beside it "rank N sends" and "rank N receives". Slices of one thread must nest, or viewers drop them:
//   slices that overlap otherwise go to one more thread, "rank N receives 2".
// - An event is a complete event ("X"): `ts` and `dur` in microseconds with six decimals, so that no
//   picosecond is lost, `cat` its kind, `args` all fields of Event, times in picoseconds as integers.
// - A message with both ends is a flow ("s" at the beginning of the send, "f" at the end of the receive).
//
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU describes the format.
#pragma once

#include <string>
#include <string_view>

#include "dist/trace/event.h"

namespace dist::trace {

inline constexpr std::string_view trace_format = "distlab trace 1";

// Every event's rank must be one of the trace's, and 0 <= begin <= end. Texts are UTF-8 (invalid bytes become
// U+FFFD).
std::string to_chrome_json(const Trace& trace);

// Reads what to_chrome_json() wrote and returns the same Trace, in the same order. `where` names the source
// in errors. Throws Error{invalid_argument} when the text is not JSON (cut short, for instance) or not a
// distlab trace, and when a field is missing or impossible. File names of call sites are kept for the life of
// the program.
Trace parse_chrome_json(std::string_view text, const std::string& where);

}  // namespace dist::trace
