// ParameterServer: one rank holds the truth. All others send it their gradients, it takes the step, and sends
// the new values back. What training did before all-reduce: the server's port carries 2 (n - 1) S bytes a
// step where the ring's ranks carry 4 (n - 1) / n S each. A baseline to compare with.
#pragma once

#include <vector>

#include "dist/core/deadline.h"
#include "dist/group/process_group.h"
#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace dist {

struct ParameterServerOptions {
  ProcessGroup group = {};  // default: the default group
  int server = 0;           // group rank
};

// Every rank, the server too, computes gradients of its own part of a batch.
class ParameterServer {
 public:
  // Every rank of the group calls it, with a model of the same parameters (else Error{mismatch} on all); all
  // values become group rank 0's. Values and gradients move into one piece of memory each, of one dtype and
  // device (else Error{invalid_argument}). Model and optimizer, of which only the server's is used, live
  // longer than this. Messages about its calls name the line where it was made.
  ParameterServer(nn::Module& model, nn::Optimizer& optimizer, const ParameterServerOptions& options = {},
                  CallSite where = CallSite::current());

  // Instead of optimizer.step(): afterwards every rank has the values that one step with the average of all
  // gradients gives. The server's gradients are that average, the others' stay as they were.
  void step();
  // How long the last step() was busy with other ranks: nothing hides it.
  Timeout exposed() const { return exposed_; }

 private:
  bool is_server() const { return group_.rank() == server_; }
  void collect_gradients();
  void hand_out_values();

  nn::Optimizer& optimizer_;
  const ProcessGroup group_;
  const int server_;
  const CallSite where_;
  std::vector<nn::NamedParameter> parameters_;
  Tensor values_, gradients_;   // one-dimensional, all parameters
  std::vector<Tensor> places_;  // of each one's gradient
  Timeout exposed_{};
};

}  // namespace dist
