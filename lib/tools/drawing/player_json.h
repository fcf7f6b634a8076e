// Traces for an animation in a browser: only what is drawn, by what it is drawn as.
//
//   {"format": "distlab player 2", "title": "...", "ranks": 4, "ranks_per_node": 0, "virtual_time": true,
//    "unit": "ps", "duration": 4200000,           of all times; the end of the last event
//    "calls":      [{"rank", "begin", "end", "name", "algorithm", "where", "bytes", "in_shared_memory",
//                    "group", "sequence", "ending"}],
//    "messages":   [{"id", "src", "dst", "begin", "arrive", "bytes", "contributors", "offset",
//                    "name", "group", "sequence"}],
//    "reductions": [{"rank", "at", "bytes", "contributors", "offset"}],
//    "waits":      [{"rank", "begin", "end"}],
//    "computes":   [{"rank", "begin", "end", "name"}],
//    "findings":   [{"code", "title", "what", "mend", "parties": [{"rank", "doing", "where", "waits_for"}]}]}
//
// - `where` is "train.cpp:41", empty when it is not known. A call `in_shared_memory` has no messages: its
//   ranks read and write each other's memory. Its
//   `ending` is "done", "failed" (with an error) or "cut off" (its rank was gone first).
// - A message flies from `begin`, when its send took the port, until `arrive`, when the receive ended; null
//   when it never did. `id` is Event::message (0: it had none).
// - Name, group and sequence of a message are those of the call it belongs to: equal ones on all ranks are
//   one collective.
// - `contributors` names the ranks whose parts are in the bytes: "0-3,6"; "" when that is not known.
//   `offset` is where they belong in the operation's tensor, in bytes, -1 when they do not.
// - A reduction is a moment: `at` is its end.
// - A node has `ranks_per_node` ranks; 0 when all are on one, or it is not known.
//
// Lists are ordered by when things ended, messages by when they were sent off. Numbers above 2^53, 2.5 hours
// in picoseconds, are rounded by JavaScript.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

std::string to_player_json(const Trace& trace);

}  // namespace dist::trace
