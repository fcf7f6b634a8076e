// RemoteBackend: the collectives of a rank whose simulation runs in another process. Each is one question:
// the rank's contribution is sent to the simulation, which returns the result. The algorithm runs there,
// where its messages are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dist/backend/ordered.h"

namespace dist::sim {

class RemoteBackend final : public OrderedBackend {
 public:
  // `endpoint`: the number of context.endpoint at the simulation.
  RemoteBackend(const BackendContext& context, std::uint32_t endpoint);
  ~RemoteBackend() override { stop(); }

  std::string algorithm_for(const Operation& operation) const override;

 private:
  Plan choose(const Operation&) override { return {}; }  // the simulation's to say
  void execute(const Operation& operation) override;

  const std::uint32_t endpoint_;
};

}  // namespace dist::sim
