// ParameterServer: one rank holds the authoritative values. All others send it their gradients; it takes the
// step and sends the new values back. Training worked like this before all-reduce: the server's port carries
// 2 (n - 1) S bytes per step, while each rank of a ring carries 4 (n - 1) / n S. A baseline for comparison.
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

// Every rank, including the server, computes the gradients of its own part of a batch.
class ParameterServer {
 public:
  // Every rank of the group must call it, with a model of the same parameters (otherwise it throws
  // Error{mismatch} on all); all values become group rank 0's. Values and gradients each move into one piece
  // of memory, of one dtype and device (otherwise Error{invalid_argument}). Model and optimizer must outlive
  // this; only the server's optimizer is used. Parameters that are not trained are not sent. Messages about
  // its calls name the line where it was made.
  ParameterServer(nn::Module& model, nn::Optimizer& optimizer, const ParameterServerOptions& options = {},
                  CallSite where = CallSite::current());

  // Call it instead of optimizer.step(): afterwards every rank has the values of one step with the average of
  // all gradients. The server's gradients are that average, the others' are unchanged.
  void step();
  // How long the last step() spent on communication with other ranks, none of which is hidden.
  Timeout exposed() const { return exposed_; }

 private:
  bool is_server() const { return group_.rank() == server_; }
  void arrange();
  void collect_gradients();
  void hand_out_values();

  nn::Module& model_;
  nn::Optimizer& optimizer_;
  const ProcessGroup group_;
  const int server_;
  const CallSite where_;
  std::size_t all_ = 0;                         // how many parameters the model has
  std::vector<nn::NamedParameter> parameters_;  // those that are trained
  Tensor values_, gradients_;                   // theirs, one-dimensional
  std::vector<Tensor> places_;                  // each gradient's view
  Timeout exposed_{};
};

}  // namespace dist
