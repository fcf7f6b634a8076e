// One error type for the whole library.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace dist {

// The kinds of failure, by which a program may decide what to do.
enum class Errc {
  invalid_argument,  // refused before anything moved: dtype, shape, rank, root, group, list length
  not_initialized,   // a call before init_process_group or after destroy_process_group
  timeout,           // a deadline passed; the message says what had arrived by then
  peer_failed,       // another rank died or left; the message names it
  mismatch,          // ranks disagree: different collectives, sizes, dtypes, roots or world sizes
  connection,        // the store or a peer could not be reached, or sent nonsense
  resource,          // the system refused memory, a descriptor, a thread, a port
  unsupported,       // this backend or this build does not have it; the message says how to get it
  aborted,           // this operation was given up because an earlier one on the group failed
  internal,          // a bug in distlab
};

// "timeout", "peer_failed", ...
std::string_view name(Errc code);

// what() is one line: which rank, which call, how far it got, and what to check.
class Error : public std::runtime_error {
 public:
  // `message` is that line.
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  // The kind of failure.
  Errc code() const { return code_; }

 private:
  Errc code_;
};

}  // namespace dist
