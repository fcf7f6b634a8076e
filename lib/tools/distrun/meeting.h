// Meeting: the store through which the nodes of a job find each other. All nodes are given its address; one
// of them hosts it.
#pragma once

#include <memory>
#include <string>

#include "dist/store/tcp_store.h"

#include "options.h"
#include "output.h"

namespace distrun {

class Meeting {
 public:
  // Writes to `err` what delays a node. Both arguments must outlive this object. Does not block. Throws
  // Error{resource} when this is the only node and there is no free port.
  Meeting(const Options& options, Outlet& err);

  // Returns the store, hosting it if that is this node's task. Blocks until it answers. Throws
  // Error{resource} when another program has the port, Error{connection} when no store was reached by the
  // deadline.
  std::shared_ptr<dist::Store> reach(dist::Deadline deadline);
  // Returns another connection to a store that has been reached; the store sets `will` when this node is
  // gone.
  std::shared_ptr<dist::Store> reach(dist::Deadline deadline, const dist::LastWill& will) const;

  const std::string& address() const { return address_; }  // "tcp://127.0.0.1:40321"
  const std::string& token() const { return token_; }      // of the job
  bool is_kept_here() const { return server_ != nullptr; }
  bool is_here() const;  // the address belongs to this machine

 private:
  bool keeps() const;
  bool must_keep() const;
  bool try_to_keep();
  void say_taken(double seconds_left);

  const Options& options_;
  Outlet& err_;
  std::string address_, token_;
  std::unique_ptr<dist::StoreServer> server_;
  std::string taken_;  // why the store cannot be hosted here
};

}  // namespace distrun
