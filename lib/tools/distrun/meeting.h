// Where the nodes of a job meet: a store at an address that all of them were given, kept by one of them.
#pragma once

#include <memory>
#include <string>

#include "dist/store/tcp_store.h"

#include "options.h"
#include "output.h"

namespace distrun {

class Meeting {
 public:
  // `err` is told what holds a node up. Both outlive this. Does not block. Error{resource}: one node alone,
  // and there is no port.
  Meeting(const Options& options, Outlet& err);

  // The store, kept here where that is this node's part. Blocks until it answers. Error{resource} says that
  // the port is another program's, Error{connection} that nobody was reached by the deadline.
  std::shared_ptr<dist::Store> reach(dist::Deadline deadline);
  // The same once it has been reached; `will` is set when this node is gone.
  std::shared_ptr<dist::Store> reach(dist::Deadline deadline, const dist::LastWill& will) const;

  const std::string& address() const { return address_; }  // "tcp://127.0.0.1:40321"
  const std::string& token() const { return token_; }      // of the job
  bool is_kept_here() const { return server_ != nullptr; }
  bool is_here() const;  // the address is one of this machine's

 private:
  bool keeps() const;
  bool must_keep() const;
  bool try_to_keep();
  void say_taken(double seconds_left);

  const Options& options_;
  Outlet& err_;
  std::string address_, token_;
  std::unique_ptr<dist::StoreServer> server_;
  std::string taken_;  // why the store cannot be kept here
};

}  // namespace distrun
