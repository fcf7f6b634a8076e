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

// How a call of the user ended.
enum class Ending : std::uint8_t {
  done,
  failed,   // with an error
  cut_off,  // not at all: its rank ended first, or gave up its Work
};

struct Event {
  Kind kind = Kind::call;
  std::int32_t rank = 0;
  std::int32_t peer = -1;           // of send and receive
  std::int64_t begin = 0, end = 0;  // picoseconds since the run began
  std::uint64_t bytes = 0;          // of a call: of this rank's part; of a message or reduction: moved
  std::uint64_t message = 0;        // the same number at both ends; 0: none
  std::uint32_t group = 0;          // context number
  std::uint64_t sequence = 0;       // of the operation it belongs to
  std::string name;                 // of the operation: "all_reduce"
  std::string algorithm;            // "ring", or empty
  CallSite where;                   // of the user's call; `file` outlives the event
  std::uint64_t contributors = 0;   // bit r: rank r's part is in these bytes (64 ranks at most, else 0)
  std::int64_t offset = -1;         // bytes from the start of the operation's tensor; -1: elsewhere
  bool in_shared_memory = false;  // of a call: its ranks read and write each other's memory, nothing is sent
  Ending ending = Ending::done;   // of a call
};

// What was found wrong with the program, as far as a picture tells it; check::Finding says the same to layers
// above.
struct Finding {
  struct Party {
    std::int32_t rank = 0;
    std::string doing;  // "send #0 (4 f32)"
    CallSite where;
    std::vector<int> waits_for;  // ranks; of a deadlock
  };
  std::string code, title, what, mend;  // "D1", "deadlock", a sentence each
  std::vector<Party> parties;
};

struct Trace {
  std::string title;  // "all_reduce ring, 4 ranks on laptop"
  int ranks = 0;
  bool virtual_time = false;
  std::vector<Event> events = {};      // in the order they ended
  int ranks_per_node = 0;              // 0: all on one, or not known
  std::vector<Finding> findings = {};  // of a run that was checked
};

}  // namespace dist::trace
