// Traces for an animation in a browser: only what is drawn, sorted by how it is drawn.
//
//   {"format": "distlab player 2", "title": "...", "ranks": 4, "ranks_per_node": 0, "virtual_time": true,
//    "unit": "ps",                                of all times
//    "duration": 4200000,                         the end of the last event
//    "calls":      [{"rank", "begin", "end", "name", "algorithm", "where", "bytes", "in_shared_memory",
//                    "group", "sequence", "ending"}],
//    "messages":   [{"id", "src", "dst", "begin", "arrive", "bytes", "contributors", "offset",
//                    "name", "group", "sequence"}],
//    "reductions": [{"rank", "at", "bytes", "contributors", "offset"}],
//    "waits":      [{"rank", "begin", "end"}],
//    "computes":   [{"rank", "begin", "end", "name"}],
//    "findings":   [{"code", "title", "what", "mend", "parties": [{"rank", "doing", "where", "waits_for"}]}]}
//
// - `where` is "train.cpp:41", or empty when it is not known. A call `in_shared_memory` has no messages: its
//   ranks read and write each other's memory. The `ending` of a call is "done", "failed" (with an error) or
//   "cut off" (its rank ended first).
// - A message is in flight from `begin`, when its send took the port, until `arrive`, when the receive ended;
//   `arrive` is null when it never did. `id` is Event::message (0: it had none).
// - Name, group and sequence of a message are those of the call that it belongs to: calls of all ranks with
//   equal ones are one collective.
// - `contributors` names the ranks whose parts are in the bytes: "0-3,6"; "" when they are not known.
// `offset`
//   is the place of the bytes in the operation's tensor, or -1 when they have none.
// - A reduction is drawn as one moment: `at` is its end.
// - A node has `ranks_per_node` ranks; 0 when all ranks are on one node, or the number is not known.
//
// Lists are ordered by end time, messages by send time. JavaScript rounds numbers above 2^53, which are 2.5
// hours in picoseconds.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

std::string to_player_json(const Trace& trace);

}  // namespace dist::trace
