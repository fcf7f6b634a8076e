// What a user can set by environment variables for the group layer. (DIST_SIM: launch/spawn_simulated.h.)
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/types.h"
#include "dist/group/join/environment.h"
#include "dist/transport/endpoint.h"

namespace dist {

enum class DebugLevel { off, info, detail };

struct Settings {
  std::string backend = "auto";               // DIST_BACKEND: for ranks whose program says auto
  std::optional<DeviceType> device;           // DIST_DEVICE=auto|cpu|cuda; auto: a GPU where there is one
  DebugLevel debug = DebugLevel::off;         // DIST_DEBUG=off|info|detail
  SendMode send_mode = SendMode::rendezvous;  // DIST_SEND=rendezvous|eager
  std::string transport = "auto";             // DIST_TRANSPORT=auto|shm|tcp|plain
  std::string algorithms;                     // DIST_ALGO, for AlgorithmChooser; equal on all ranks
  std::size_t recorder_size = 256;            // DIST_FLIGHT_RECORDER_SIZE, operations
  // DIST_DEADLOCK_AFTER, seconds: a call that has been going on for this long, and certainly goes on forever,
  // fails then; 0: it fails at its timeout.
  std::size_t deadlock_after_s = 0;
  std::string dump_dir;    // DIST_DUMP_DIR, empty: no dumps on errors
  std::string trace_file;  // DIST_TRACE, absolute; empty: no trace (run_trace.h)
};

// Error{invalid_argument} names the variable, its value and what is allowed.
Settings read_settings(const GetEnv& get_env);
Settings read_settings();  // for this process
// DIST_TIMEOUT in seconds (fractions allowed), otherwise default_timeout.
Timeout read_timeout(const GetEnv& get_env);

}  // namespace dist
