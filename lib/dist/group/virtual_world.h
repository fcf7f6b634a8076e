// VirtualWorld: the job of ranks that are neither processes nor threads. The simulator provides it; a rank
// whose context has one meets the others here instead of by a store and sockets.
#pragma once

#include <cstddef>
#include <memory>

#include "dist/group/rendezvous.h"
#include "dist/transport/endpoint.h"

namespace dist {

class Blackboard;
class CallObserver;

class VirtualWorld {
 public:
  virtual ~VirtualWorld() = default;
  virtual Job join(int rank) = 0;
  virtual std::shared_ptr<Endpoint> endpoint(int rank) = 0;
  virtual Blackboard& blackboard() = 0;
  virtual std::size_t recorder_size() const = 0;                 // operations a rank remembers
  virtual std::shared_ptr<CallObserver> observer(int rank) = 0;  // may be null
};

}  // namespace dist
