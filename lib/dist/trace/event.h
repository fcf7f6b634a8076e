// Events: what happened on each rank and when, in a real run (steady clock) or a simulated one (virtual
// clock).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/core/call_site.h"

namespace dist::trace {

enum class Kind : std::uint8_t {
  call,     // an operation of the user, from the call until it returned (asynchronous: until it ended)
  send,     // a message, from the moment it holds the sender's port until it has left
  receive,  // the same message, from its posted receive until it had arrived
  wait,     // the rank was blocked
  reduce,   // an arriving part was added
  compute,  // the user's own work, as charged
};

// How a user's call ended.
enum class Ending : std::uint8_t {
  done,
  failed,   // with an error
  cut_off,  // not at all: its rank ended first, or its Work was dropped
};

struct Event {
  Kind kind = Kind::call;
  std::int32_t rank = 0;
  std::int32_t peer = -1;           // for send and receive
  std::int64_t begin = 0, end = 0;  // picoseconds since the run began
  std::uint64_t bytes = 0;          // for a call, this rank's part; for a message or reduction, bytes moved
  std::uint64_t message = 0;        // the same number at both ends; 0: none
  std::uint32_t group = 0;          // context number
  std::uint64_t sequence = 0;       // that of the operation it belongs to
  std::string name;                 // the operation's: "all_reduce"
  std::string algorithm;            // "ring", or empty
  CallSite where;                   // the user's call; `file` outlives the event
  std::uint64_t contributors = 0;   // bit r: rank r's part is in these bytes (at most 64 ranks, else 0)
  std::int64_t offset = -1;         // bytes from the start of the operation's tensor; -1: elsewhere
  bool in_shared_memory = false;    // for a call: ranks use each other's memory and send nothing
  Ending ending = Ending::done;     // for a call
};

// What was found wrong with the program, as far as a picture shows it; check::Finding says the same to higher
// layers.
struct Finding {
  struct Party {
    std::int32_t rank = 0;
    std::string doing;  // "send #0 (4 f32)"
    CallSite where;
    std::vector<int> waits_for;  // ranks; for a deadlock
  };
  std::string code, title, what, mend;  // "D1", "deadlock", one sentence each
  std::vector<Party> parties;
};

struct Trace {
  std::string title;  // "all_reduce ring, 4 ranks on laptop"
  int ranks = 0;
  bool virtual_time = false;
  std::vector<Event> events = {};      // in the order in which they ended
  int ranks_per_node = 0;              // 0: all on one node, or not known
  std::vector<Finding> findings = {};  // for a run that was checked
};

}  // namespace dist::trace
