// Running a function on virtual ranks.
#pragma once

#include "dist/core/tensor.h"
#include "dist/sim/transport.h"

namespace dist::test {

// body(net) on each of n ranks; the seconds until the last one ended.
template <class Body>
double simulate(const sim::Topology& topology, int n, const Body& body, SendMode mode = SendMode::eager) {
  sim::Scheduler scheduler(topology, n);
  sim::Fabric fabric(scheduler);
  const auto everybody = Members::everybody(n);
  scheduler.run([&](int rank) {
    sim::SimTransport net(
        fabric, {.members = everybody, .channel = {.context = 1, .tag = 1}, .label = {}, .mode = mode}, rank);
    body(net);
  });
  return sim::to_seconds(scheduler.finish_time());
}

}  // namespace dist::test
