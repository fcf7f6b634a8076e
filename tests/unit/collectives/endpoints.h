// Ranks as threads, each with an endpoint of its own; virtual ranks where the test runs on those.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "dist/core/rank_label.h"
#include "dist/group/join/virtual_world.h"
#include "dist/transport/endpoint.h"

#include "support/ranks.h"

namespace dist::test {

inline std::shared_ptr<Endpoint> connect(int rank, int n, const std::string& transport, Store& store) {
  if (const auto& world = rank_context().virtual_world) return world->endpoint(rank);
  EndpointOptions options;
  options.rank = rank;
  options.world_size = n;
  options.transport = transport;
  options.deadline = Deadline::after(std::chrono::seconds(30));
  return connect_endpoint(store, options);
}

// Calls fn on n connected endpoints, and rethrows the first error in time.
inline void run_endpoints(int n, const std::string& transport, const std::function<void(Endpoint&)>& fn) {
  run_unjoined(n, [&](int rank, const std::shared_ptr<Store>& store) {
    set_current_rank_label(rank);
    const auto endpoint = connect(rank, n, transport, *store);
    try {
      fn(*endpoint);
    } catch (const std::exception& error) {
      endpoint->close(error.what());
      throw;
    }
    endpoint->close("");
  });
}

}  // namespace dist::test
