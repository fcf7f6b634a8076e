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
// The same, in `directory`.
void dump_into(const std::string& directory, const FlightLog& log, std::string_view reason) noexcept;

// While such an object lives, SIGUSR1 dumps `log`, unless the program has a handler of its own: into the
// log's directory, or, when it has none, into a folder of temporary files that `job` names, equal for all
// ranks of the job on this host. The first rank there says on stderr where it is. One thread per process
// waits for the signal.
class SignalDump {
 public:
  SignalDump(std::shared_ptr<const FlightLog> log, const std::string& job);
  ~SignalDump();
  SignalDump(const SignalDump&) = delete;
  SignalDump& operator=(const SignalDump&) = delete;

 private:
  std::shared_ptr<const FlightLog> log_;
  std::string folder_;
};

}  // namespace dist
