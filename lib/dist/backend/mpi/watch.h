// Watch: notices what MPI does not report about an operation that does not end: its time is up, a rank that
// it needs has died or left, or this rank abandons it.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "dist/backend/operation.h"
#include "dist/transport/endpoint.h"

namespace dist::mpi {

// Not thread-safe.
class Watch {
 public:
  // `options`: those with which the operation would be opened on the endpoint.
  Watch(std::shared_ptr<Endpoint> endpoint, TransportOptions options, const Operation& operation);

  // Throws Error{timeout|peer_failed|aborted} when the operation cannot end any more, at every call. To be
  // called often: it reads the clock, and polls the endpoint now and then.
  void look();

 private:
  [[noreturn]] void fail_in_time() const;
  void look_at_the_others(Clock::time_point now);
  std::exception_ptr reason();

  const std::shared_ptr<Endpoint> endpoint_;
  TransportOptions options_;
  const OpKind kind_;
  const int peer_;
  const Clock::time_point since_ = Clock::now();
  Clock::time_point next_look_;
  // A receive for which no message comes: it fails when the operation's peer does.
  std::unique_ptr<Transport> transport_;
  Request silence_;
  std::exception_ptr trouble_;
  Clock::time_point fatal_from_;
};

}  // namespace dist::mpi
