// LocalRank: one rank of this node during one attempt: its process and what becomes of its output.
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"

#include "guardian.h"
#include "nodes.h"
#include "options.h"
#include "output.h"
#include "signals.h"
#include "worker.h"

namespace distrun {

// The parts that outlive an attempt.
struct Stage {
  const Options& options;
  Nodes& nodes;
  Guardian& guardian;
  Signals& signals;
  Outlet& out;
  Outlet& err;
};

struct LocalRank {
  Worker worker;
  std::unique_ptr<Tail> tail;
  LineSink out, err;
  std::string error_file;  // where it may describe its error; empty: none
  bool out_open = true, err_open = true;
  bool noted = false;                              // its end has been reported
  dist::Deadline drain = dist::Deadline::never();  // until when its streams are read once it is reaped

  // Throws what Worker throws, and Error{resource} when a log cannot be written.
  static LocalRank start(const Stage& stage, const Command& command, int attempt, int local_rank);
  // Passes on what it has written, as far as the readers keep up. Does not block.
  void read(Outlet& shown_out, Outlet& shown_err);
};

}  // namespace distrun
