// A rank's flight recorder, and how it is written as JSON: after an error when DIST_DUMP_DIR is set, and
// whenever SIGUSR1 arrives.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dist/group/diagnosis/flight_recorder.h"

namespace dist {

// One rank's recorder, and where it is dumped.
struct FlightLog {
  FlightLog(int rank_, int world_size_, std::size_t capacity, std::string directory_)
      : rank(rank_), world_size(world_size_), directory(std::move(directory_)), recorder(capacity) {}
  const int rank, world_size;
  const std::string directory;  // empty: no dumps
  FlightRecorder recorder;
};

// {"rank": 1, "world_size": 4, "reason": "timeout", "records": [{"operation": "all_reduce", ...}]}; times in
// seconds since 1970, oldest record first.
std::string to_json(const FlightLog& log, std::string_view reason);

// Writes DIRECTORY/distlab_rankN.json, whole or not at all; a failure is logged. Does nothing without a
// directory.
void dump(const FlightLog& log, std::string_view reason) noexcept;

// While such an object lives, SIGUSR1 dumps `log` (to stderr when it has no directory), unless the program
// has a handler of its own. One thread per process waits for the signal.
class SignalDump {
 public:
  explicit SignalDump(std::shared_ptr<const FlightLog> log);
  ~SignalDump();
  SignalDump(const SignalDump&) = delete;
  SignalDump& operator=(const SignalDump&) = delete;

 private:
  std::shared_ptr<const FlightLog> log_;
};

}  // namespace dist
